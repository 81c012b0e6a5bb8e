import Catalog
import CatalogFormat
import Coordinator
import Foundation
import Testing
import TextFormats
import Tiles

@testable import Gateway

/// Catalogs of the coordinator are compared, promoted and rolled back through the API.
@Suite(.timeLimit(.minutes(15))) struct CatalogChangeTests {
    private typealias Cluster = ClusterServingTests

    /// A gateway over a coordinator whose catalogs `main` and `staging` have EE and LV; those of staging are newer.
    private func serving(_ body: @escaping @Sendable (GatewayFixture, URL) async throws -> Void) async throws {
        let staging = FileManager.default.temporaryDirectory.appendingPathComponent(
            "packhorse-staging-\(UUID().uuidString)")
        // A folder that stays takes space only.
        defer { try? FileManager.default.removeItem(at: staging) }
        let fill = { @Sendable (catalog: Catalog, folder: URL) throws in
            let next = try Catalog(staging, create: true)
            for id in ["EE", "LV"] {
                let tile = try #require(TileID(zoom: 0, x: 0, y: 0))
                try catalog.publish(id, try SmallMap(tile, maxZoom: 1, name: id), in: folder)
                try next.publish(id, try SmallMap(tile, maxZoom: 2, name: "\(id) new"), in: folder)
            }
        }
        try await Cluster.serving(
            sharesCatalog: true, otherCatalogs: ["staging": .init(staging)], fill: fill
        ) { try await body($0, staging) }
    }

    private func versions(_ gateway: GatewayFixture) async throws -> [String] {
        let answer = try await gateway.get("/packages.json")
        return try Catalog.entries(decoding: Array(answer.body), named: "packages.json").map {
            "\($0.id) \($0.version)"
        }
    }

    @Test func aDifferenceIsPromotedAndRolledBack() async throws {
        try await serving { gateway, _ in
            let path = "/v1/catalogs/staging/diff/main"
            let compared = try await gateway.get(path, Cluster.viewer)
            #expect(compared.status == 200 && AnswerSchema.problems(compared, path) == [], "\(compared.text)")
            #expect(compared.text.contains("\"change\":\"changed\"") && compared.text.contains("\"omitted\":0"))
            #expect(try await gateway.get(path).status == 401)
            let orders = "/v1/catalogs/main/orders"
            let promote = #"{"order":"promote","from":"staging","packages":["EE"],"main_edition":true}"#
            #expect(try await gateway.post(orders, promote, Cluster.viewer).status == 403)
            let dry = try await gateway.post(
                orders, #"{"order":"promote","from":"staging","dry_run":true}"#, Cluster.op)
            #expect(dry.status == 200 && !dry.text.contains("\"sequence\""), "\(dry.text)")
            #expect(try await versions(gateway) == ["EE 1", "LV 1"])
            let promoted = try await gateway.post(orders, promote, Cluster.op)
            #expect(promoted.status == 200 && promoted.text.contains("\"published\":2"), "\(promoted.text)")
            #expect(try await versions(gateway) == ["EE 2", "LV 1"])
            let back = try await gateway.post(orders, #"{"order":"rollback"}"#, Cluster.op)
            #expect(back.status == 200 && back.text.contains("\"published\":3"), "\(back.text)")
            #expect(try await versions(gateway) == ["EE 3", "LV 1"])
            let again = try await gateway.post(orders, #"{"order":"rollback"}"#, Cluster.op)
            #expect(again.status == 200 && again.text.contains("\"packages\":[]"), "\(again.text)")
            let forward = try await gateway.post(
                orders, #"{"order":"rollback","packages":["EE"],"version":2}"#, Cluster.op)
            #expect(forward.status == 200, "\(forward.text)")
            #expect(try await versions(gateway) == ["EE 4", "LV 1"])
        }
    }

    @Test func wrongOrdersAreRefused() async throws {
        try await serving { gateway, _ in
            for (name, body, status) in [
                ("main", #"{"order":"dance"}"#, 422), ("main", "{}", 400),
                ("main", #"{"order":"promote","from":"staging","version":2}"#, 422),
                ("main", #"{"order":"rollback","from":"staging"}"#, 422),
                ("main", #"{"order":"promote","from":"staging","max_shrink":2}"#, 422),
                ("main", #"{"order":"promote","from":"main"}"#, 422),
                ("main", #"{"order":"rollback","version":0}"#, 422),
                ("main", #"{"order":"rollback","group":"terrain","main_edition":true}"#, 422),
                ("main", #"{"order":"promote","from":"staging","packages":["XX"]}"#, 404),
                ("main", #"{"order":"rollback","packages":["EE"],"version":7}"#, 404),
                ("nowhere", #"{"order":"rollback"}"#, 404),
            ] {
                let answer = try await gateway.post("/v1/catalogs/\(name)/orders", body, Cluster.op)
                #expect(answer.status == status, "\(name) \(body): \(answer.status) \(answer.text)")
            }
            #expect(try await gateway.get("/v1/catalogs/nowhere/diff/main", Cluster.viewer).status == 404)
            #expect(try await versions(gateway) == ["EE 1", "LV 1"])
        }
    }
}
