import Errors
import Foundation
import Packages
import Synchronization
import Testing
import TextFormats
import Tiles
import Tilesets

@testable import Gateway

/// Which samples are made, and what is said where none is.
@Suite(.timeLimit(.minutes(15))) struct SampleTests {
    private struct Refused: Error {}

    @Test func equalMapsAreSampledOnceAndFewAtATime() {
        var samples = KeptSamples<String>()
        func word(_ key: String, _ now: Double) -> String {
            switch samples.turn(key, now: now) {
            case .known(let value): value
            case .make: "make"
            case .later: "later"
            }
        }
        #expect(word("a", 0) == "make")
        samples.keep("A", "a", now: 0)
        #expect(word("a", 1) == "A")
        samples.keep("B", "b", now: 1)
        #expect(word("c", 2) == "later")
        samples.end("a", isGood: true, now: 3)
        #expect(word("c", 3) == "make")
        samples.end("b", isGood: false, now: 3)
        #expect(word("b", 62) == "B")
        #expect(word("b", 64) == "make")
        #expect(word("a", 3_599) == "A")
        #expect(word("a", 3_601) == "make")
    }

    @Test func theOldestSampleIsForgotten() {
        var samples = KeptSamples<Int>()
        for number in 0...KeptSamples<Int>.most {
            samples.keep(number, "\(number)", now: 0)
            samples.end("\(number)", isGood: true, now: 0)
        }
        if case .make = samples.turn("0", now: 1) {} else { Issue.record("the first one is kept") }
        if case .known(1) = samples.turn("1", now: 1) {} else { Issue.record("the second one is lost") }
    }

    private static func question() throws -> MapSample.Question {
        let text = """
            id: a
            url: http://127.0.0.1:9/{z}/{x}/{y}.pbf
            format: pbf
            zoom: 0-3
            attribution: test
            politeness: {concurrency: 1, requests_per_second: 1, contact: test@example.com}
            """
        let tileset = try TilesetFile(text: text, name: "a.yaml", folder: URL(filePath: "/")).resolved()
        return MapSample.Question(
            tileset: tileset, mask: try TileMask(cartoText: "QAAA:3"), zooms: tileset.zooms, formats: [.mbtiles],
            count: 8)
    }

    private static let sample = MapSample(sampled: 9, bytes: 100, margin: 5, files: [], seconds: 2)

    @Test func aSampleIsKeptAndAFailureSaysWhy() async throws {
        let question = try Self.question()
        let count = Mutex(0)
        let sampler = MapSampler { _ in
            count.withLock { $0 += 1 }
            return Self.sample
        }
        async let first = sampler.outcome("a", question) { nil }
        async let second = sampler.outcome("a", question) { nil }
        #expect(await [first, second] == [.sample(Self.sample), .sample(Self.sample)])
        #expect(count.withLock { $0 } == 1)
        #expect(await sampler.outcome("b", question) { "not now" } == .none("not now", mayAskAgain: false))
        let failing = MapSampler { _ in throw Refused() }
        guard case .none(_, false) = await failing.outcome("a", question, refusal: { nil }) else {
            Issue.record("a failure has a reason")
            return
        }
        let silent = MapSampler(
            { _ in
                try await Task.sleep(for: .seconds(3_600))
                return Self.sample
            }, patience: .milliseconds(1))
        #expect(
            await silent.outcome("a", question) { nil }
                == .none("The tile server did not answer in time.", mayAskAgain: false))
    }
}
