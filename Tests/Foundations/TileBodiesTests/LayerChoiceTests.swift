import Errors
import Testing

@testable import TileBodies

struct LayerChoiceTests {
    private let roads = VectorSamples.layer(name: "roads", features: [VectorSamples.feature(tags: [0, 1, 0, 2])])
    private let water = VectorSamples.layer(name: "water")

    private func settled(_ body: [UInt8], _ names: [String]) throws(TileBodiesError) -> [UInt8] {
        try BodyChecker(choice: LayerChoice(names)).check(body, coding: .identity, declared: .mvt)
    }

    @Test func chosenLayersStayByteForByteInTheirOrder() throws {
        let tile = VectorSamples.tile([roads, water, VectorSamples.layer(name: "houses")])
        let expected = Gzip.compress(VectorSamples.tile([roads, water]))
        #expect(try settled(tile, ["water", "roads", "other"]) == expected)
        #expect(try settled(Gzip.compress(tile), ["roads", "water"]) == expected)
        #expect(try settled(expected, ["roads", "water"]) == expected, "it is its own choice")
    }

    @Test func aTileThatKeepsAllIsAsItWasServed() throws {
        let tile = VectorSamples.tile([roads, water])
        let halves = Gzip.compress(Array(tile.prefix(9))) + Gzip.compress(Array(tile.dropFirst(9)))
        #expect(try settled(Gzip.compress(tile), ["roads", "water"]) == Gzip.compress(tile))
        #expect(try settled(halves, ["roads", "water"]) == Gzip.compress(tile))
    }

    @Test func aTileWithoutAnyOfThemIsEmpty() throws {
        for body in [VectorSamples.tile([roads]), Gzip.compress([])] {
            let error = #expect(throws: TileBodiesError.self) { try settled(body, ["water"]) }
            #expect(error?.code == .emptyBody)
        }
    }

    @Test func whatGoesIsCheckedToo() throws {
        let broken = VectorSamples.tile([water, VectorSamples.layer(name: "roads", features: [[0x12, 0x05]])])
        let error = #expect(throws: TileBodiesError.self) { try settled(broken, ["water"]) }
        #expect(error?.code == .badMVT || error?.code == .truncated)
    }

    @Test func onlyChosenLayersAreNumbered() throws {
        let memory = LayerCache()
        let checker = BodyChecker(layers: memory, choice: LayerChoice(["water"]))
        let body = try checker.check(VectorSamples.tile([roads, water]), coding: .identity, declared: .mvt)
        var found = VectorLayers()
        for number in try #require(checker.checkedLayers) { memory.add(number, to: &found, zoom: 3) }
        var expected = VectorLayers()
        expected.add(try checker.summary(of: body), zoom: 3)
        #expect(found == expected && Array(found.layers.keys) == ["water"])
    }
}
