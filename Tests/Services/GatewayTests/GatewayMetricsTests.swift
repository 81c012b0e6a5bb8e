import MetricsFormat
import TestSupport
import Testing
import WebServer

@testable import Gateway

/// The gateway's page of metrics and its table.
@Suite(.timeLimit(.minutes(15))) struct GatewayMetricsTests {
    /// Without this, a count with a new word would be left out of the page.
    @Test func everyWordThatIsCountedIsInTheTable() {
        #expect(Self.values(.cuts) == ConnectionClock.Cut.allCases.map(\.rawValue))
        #expect(Self.values(.refused) == GatewayMetrics.Refusal.allCases.map(\.rawValue))
        #expect(Self.values(.ranges) == GatewayMetrics.RangeKind.allCases.map(\.rawValue))
        #expect(Self.values(.tiles) == GatewayMetrics.TileResult.allCases.map(\.rawValue))
        #expect(Self.values(.extracts) == GatewayMetrics.ExtractResult.allCases.map(\.rawValue))
        #expect(Self.values(.duration) == Route.Group.allCases.map(\.rawValue))
    }

    @Test func thePageHasEveryFamilyOfTheTable() async throws {
        let gateway = try await GatewayFixture(fill: { try $0.publish("EE", noise(1_000), in: $1) })
        do {
            _ = try await gateway.get("/packages/1/EE.mbtiles", ["Range": "bytes=0-9"])
            let first = try MetricsPage(await gateway.get("/metrics").text)
            #expect(first.problems(of: "gateway").isEmpty)
            #expect(first.missing(of: "gateway") == ["packhorse_gateway_coordinator_up"], "it has no coordinator")
            #expect(first.value("gateway_ranges_total", ["kind": "one"]) == 1)
            _ = try await gateway.get("/no-such-path")
            let second = try MetricsPage(await gateway.get("/metrics").text)
            #expect(second.fallen(since: first).isEmpty)
            #expect(
                second.value(
                    "gateway_http_requests_total", ["route": "other", "method": "GET", "code": "404"]) == 1)
        } catch {
            await gateway.end()
            throw error
        }
        await gateway.end()
    }

    private static func values(_ metric: GatewayMetric) -> [String]? { metric.family.labels.first?.values }
}
