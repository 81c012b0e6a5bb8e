import CatalogFormat
import Digests
import Files
import Foundation
import TestSupport
import Testing

/// A package in parts is promoted and rolled back as one; a device follows in both directions.
@Suite(.serialized, .timeLimit(.programs))
struct PartsStagingTests {
    private struct Entry: Decodable {
        struct Part: Decodable { let of: String, number: Int, count: Int }
        let id: String
        let version: Int
        let sha256: String
        let part: Part?
    }

    private func entries(_ catalog: URL) throws -> [Entry] {
        struct List: Decodable { let packages: [Entry] }
        return try JSONDecoder().decode(
            List.self, from: try Data(contentsOf: catalog.appending(path: "packages.json"))
        ).packages
    }

    private func sequence(_ catalog: URL) throws -> Int64 {
        try CatalogIndex(decoding: Array(try Data(contentsOf: catalog.appending(path: "catalog.json")))).sequence ?? 0
    }

    @Test func aDeviceFollowsOneFilePartsMorePartsAndBack() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let staging = scratch.url("staging")
        let cluster = try await Cluster(
            workers: 1, coordinatorArguments: ["--also-catalog", "staging=\(staging.path)", "--keep-versions", "9"],
            in: scratch)
        let tileset = ["EE", "--tileset", origin.tileset, "--format", "mbtiles,pmtiles", "--zoom"]
        _ = try await cluster.build(tileset + ["0-10"])
        let store = scratch.url("device")
        func device(_ arguments: [String]) async throws {
            let outcome = try await Program.run(["device"] + arguments + ["--store", store.path], in: scratch)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        /// The device has exactly the tiles that the catalog lists.
        func expectSame(_ what: String) async throws {
            try await device(["update"])
            try await device(["verify", "--deep"])
            let exported = scratch.url("exported-\(UUID().uuidString).mbtiles")
            try await device(["export", "-o", exported.path])
            let listed = try entries(cluster.catalog)
            let reference = scratch.url("whole-\(listed.count == 1 ? 10 : 11).mbtiles").path
            let same = try await Program.run(["diff", reference, exported.path, "--dry-run", "--json"], in: scratch)
            let difference = try JSONSerialization.jsonObject(with: Data(same.output.utf8)) as? [String: Any]
            let before = try #require(difference?["before"] as? String, "\(what): \(same.errors)")
            #expect(before == difference?["after"] as? String, "\(what): \(same.output)")
            let rows = try await Program.run(
                ["device", "list", "--installed", "--json", "--store", store.path], in: scratch)
            let items = try JSONSerialization.jsonObject(with: Data(rows.output.utf8)) as? [[String: Any]]
            #expect(items?.map { $0["version"] as? Int } == [listed[0].version], "\(what): \(rows.output)")
            // Each listed file, byte for byte.
            let files = try FileManager.default.subpathsOfDirectory(atPath: store.path).filter {
                $0.hasSuffix(".mbtiles") || $0.hasSuffix(".pmtiles")
            }
            let digests = try files.map {
                Digest(of: Array(try Data(contentsOf: store.appending(path: $0)))).hex
            }
            #expect(Set(listed.map(\.sha256)).isSubset(of: digests), "\(what): \(files)")
        }
        func order(_ arguments: String...) async throws {
            let before = try sequence(cluster.catalog)
            let outcome = try await cluster.run(["catalog"] + arguments)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            #expect(try sequence(cluster.catalog) > before, "\(arguments)")
            let listed = try entries(cluster.catalog)
            #expect(Set(listed.map(\.version)).count == 1, "one build: \(listed)")
            #expect(listed.allSatisfy { $0.part?.count ?? 1 == listed.count }, "all of its parts: \(listed)")
        }
        for zoom in [10, 11] {
            let built = try await Program.run(
                [
                    "build", "EE", "--tileset", origin.tileset, "--zoom", "0-\(zoom)", "-o",
                    scratch.url("whole-\(zoom).mbtiles").path,
                ], in: scratch)
            try #require(built.status == 0, "\(built.errors)")
        }
        try await device(["install", "EE", "--catalog", cluster.catalog.path])
        try await expectSame("one file")
        // Two parts or more, then more of them, in staging.
        _ = try await cluster.build(tileset + ["0-11", "--max-file", "400000", "--into", "staging"])
        let few = try entries(staging).count
        #expect(few > 1)
        let compared = try await cluster.run(["catalog", "diff", "staging", "main"])
        #expect(compared.status == 0 && compared.output.contains("parts none to \(few)"), "\(compared.output)")
        let asJSON = try await cluster.run(["catalog", "diff", "staging", "main", "--json"])
        #expect(asJSON.output.contains("\"parts\" : \(few)"), "\(asJSON.output)")
        try await order("promote", "staging", "main")
        #expect(try entries(cluster.catalog).map(\.sha256) == entries(staging).map(\.sha256))
        try await expectSame("parts")
        _ = try await cluster.build(tileset + ["0-11", "--max-file", "200000", "--into", "staging"])
        let many = try entries(staging).count
        #expect(many > few)
        try await order("promote", "staging", "main", "EE")
        #expect(try entries(cluster.catalog).count == many)
        try await expectSame("more parts")
        // Back to few, to one file, and to many again.
        try await order("rollback", "main")
        #expect(try entries(cluster.catalog).count == few)
        try await expectSame("few parts again")
        try await order("rollback", "main", "EE", "--to", "1")
        #expect(try entries(cluster.catalog).map(\.id) == ["EE"])
        try await expectSame("one file again")
        try await order("rollback", "main", "EE", "--to", "3")
        #expect(try entries(cluster.catalog).count == many)
        try await expectSame("many parts again")
        let part = try await cluster.run(["catalog", "rollback", "main", "EE-1", "--to", "2"])
        #expect(part.status == 66 && part.errors.contains("part 1 of 'EE'"), "\(part.status) \(part.errors)")
        for arguments in [["catalog", "verify", cluster.catalog.path], ["verify", cluster.catalog.path]] {
            let proven = try await Program.run(arguments, in: scratch)
            #expect(proven.status == 0, "\(proven.errors)")
        }
        try await cluster.stop()
    }
}
