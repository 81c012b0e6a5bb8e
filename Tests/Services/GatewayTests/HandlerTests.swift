import Catalog
import Foundation
import Testing
import Tiles

@testable import Gateway

/// Every route with a gateway over a real coordinator.
@Suite(.timeLimit(.minutes(15))) struct HandlerTests {
    private typealias Cluster = ClusterServingTests

    /// A body for each schema.
    private static let bodies = [
        "Submission": Cluster.submission, "JobOrder": #"{"order":"pause"}"#,
        "JobOrders": #"{"order":"pause","jobs":[1]}"#, "FailedOrder": #"{"order":"requeue"}"#,
        "AreaFile": #"{"type":"Point","coordinates":[24.7,59.4]}"#, "WorkerOrder": #"{"order":"drain"}"#,
        "ScheduleOrder": #"{"order":"pause"}"#,
        "Backup": #"{"name":"one"}"#,
        "CatalogOrder": #"{"order":"promote","from":"main","dry_run":true}"#,
        "Schedule": #"{"every":"daily 01:00","submission":\#(Cluster.submission)}"#,
        "Extract": #"{"tileset":"streets","area":{"bbox":[24.5,59.3,24.6,59.4]},"max_zoom":6}"#,
    ]
    private static let values = [
        "job": "1", "region": "EE", "package": "EE", "schedule": "nightly", "code": "not-found",
        "stack": "Demo%20Regular",
        "z": "0", "x": "0", "y": "0", "name": "EE", "tileset": "streets", "language": "de", "document": "style.json",
        "version": "1", "worker": "none", "mask": "1", "catalog": "main", "other": "main",
    ]

    private static func target(_ route: Route) -> String {
        let path = route.pattern.names.reduce(route.path) { text, name in
            let value =
                switch (name, route.name) {
                case ("file", "world-glyphs"): "0-255.pbf"
                case ("file", "catalog-list"): "EE.json"
                case ("file", _): "EE.mbtiles"
                case ("id", "style"): "streets"
                case ("path", "style"): "style.json"
                default: values[name] ?? "1"
                }
            return text.replacing("{\(name)+}", with: value).replacing("{\(name)}", with: value)
        }
        return path
    }

    @Test func everyRouteHasAHandlerThatAnswers() async throws {
        let map = try SmallMap(try #require(TileID(zoom: 0, x: 0, y: 0)), maxZoom: 1, name: "EE")
        let fill = { @Sendable (catalog: Catalog, folder: URL) throws in
            try catalog.publish("EE", map, in: folder)
            try catalog.publishStyle("streets", source: "streets", in: folder)
        }
        try await Cluster.serving(fill: fill) { gateway in
            var answered: Set<String> = []
            for route in RouteTable.routes {
                let target = Self.target(route)
                let answer =
                    if let body = route.body {
                        try await gateway.post(
                            target, try #require(Self.bodies[body], "\(body)"), Cluster.op,
                            method: route.method.rawValue)
                    } else { try await gateway.get(target, method: route.method.rawValue, Cluster.op) }
                #expect(answer.status != 500 && answer.status != 405, "\(target): \(answer.text)")
                #expect(!answer.text.contains("There is nothing at '"), "\(target)")
                if answer.status < 300 { answered.insert(route.name) }
            }
            // The page is not embedded here, no worker and no extract exists, the schedule was removed by an earlier route,
            // the coordinator's catalog is another one and the only one, and the mask is wrong.
            let others: Set<String> = [
                "page", "worker-order", "extract", "package-withdrawal", "carto-area", "catalog-order",
                "schedule-firings",
            ]
            #expect(Set(RouteTable.routes.map(\.name)).subtracting(answered) == others)
        }
    }

    @Test func anUnknownOrderIsRefused() async throws {
        try await Cluster.serving { gateway in
            _ = try await gateway.post("/v1/jobs", Cluster.submission, Cluster.op)
            for word in ["backup", "", "Pause", "weigh", "withdraw"] {
                for (path, more) in [
                    ("jobs/1/orders", ""), ("jobs/orders", #","jobs":[1]"#), ("jobs/1/failed/orders", ""),
                    ("workers/none/orders", ""),
                ] {
                    let answer = try await gateway.post("/v1/\(path)", "{\"order\":\"\(word)\"\(more)}", Cluster.op)
                    #expect(
                        answer.status == 422 && answer.text.contains("'order' is"), "\(path) \(word): \(answer.text)")
                }
            }
            let none = try await gateway.post("/v1/jobs/1/backup", #"{"name":"one"}"#, Cluster.op)
            #expect(none.status == 404 && none.text.contains("There is nothing at '"))
            let events = try await gateway.get("/v1/events", Cluster.viewer)
            #expect(events.status == 200 && !events.text.contains("backup"))
        }
    }
}
