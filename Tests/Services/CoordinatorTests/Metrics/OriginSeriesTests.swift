import Scheduling
import Testing

@testable import Coordinator

/// The counts of origins stay in a bounded number of series, of which none falls.
struct OriginSeriesTests {
    private func counts(_ requests: UInt64) -> OriginCounts {
        OriginCounts(requests: requests, throttled: requests / 2, failed: requests / 4)
    }

    @Test func aBusierOriginTakesThePlaceOfAnother() {
        var series = OriginSeries(most: 2)
        series.add(["a": counts(4), "b": counts(8)])
        #expect(series.named.map(\.name) == ["a", "b"])
        // Not busier than the least busy one: it is counted with the rest.
        series.add(["a": counts(4), "b": counts(8), "c": counts(4)])
        #expect(series.named.map(\.name) == ["a", "b"] && series.rest == counts(4))
        series.add(["a": counts(4), "b": counts(8), "c": counts(12)])
        #expect(series.named.map(\.name) == ["b", "c"])
        // What was counted with the rest stays there.
        #expect(series.named.last?.counts.requests == 8 && series.rest.requests == 4)
        // The origin that lost its place is counted with the rest, and later continues its own series.
        series.add(["a": counts(5), "b": counts(8), "c": counts(12)])
        #expect(series.rest.requests == 5)
        series.add(["a": counts(25), "b": counts(8), "c": counts(12)])
        #expect(series.named.map(\.name) == ["a", "c"])
        #expect(series.named.first?.counts.requests == 24 && series.rest.requests == 5)
    }

    /// A server may have the name of the series of the rest.
    @Test func noOriginIsNamedLikeTheRest() {
        var series = OriginSeries()
        series.add(["other": counts(4), "": counts(8), "a": counts(1)])
        #expect(series.named.map(\.name) == ["a"] && series.rest.requests == 12)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func noSeriesFallsAndNothingIsLost(seed: UInt64) {
        var (series, random) = (OriginSeries(), seed)
        func next(_ bound: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % bound
        }
        var (now, all, before, rest): ([String: OriginCounts], UInt64, [String: UInt64], UInt64) = ([:], 0, [:], 0)
        for _ in 0..<2_000 {
            let more = next(50)
            now["origin-\(next(200))", default: OriginCounts()].requests += more
            all += more
            series.add(now)
            #expect(series.named.count <= OriginSeries.most && series.rest.requests >= rest)
            for (name, counts) in series.named {
                #expect(counts.requests >= before[name, default: 0])
                before[name] = counts.requests
            }
            rest = series.rest.requests
        }
        #expect(before.values.reduce(rest, +) == all)
        #expect(series.named.count == OriginSeries.most)
    }
}
