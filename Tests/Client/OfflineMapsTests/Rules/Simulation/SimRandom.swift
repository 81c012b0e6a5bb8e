import Tiles

/// A whole world follows from one seed.
struct SimRandom {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(state: seed &* 0x2545_F491_4F6C_DD1D &+ 1) }

    mutating func next() -> UInt64 { random.next() }

    mutating func below(_ bound: Int) -> Int { bound <= 0 ? 0 : Int(next() % UInt64(bound)) }
    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
    mutating func perMille(_ share: Int) -> Bool { below(1_000) < share }
    mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
}
