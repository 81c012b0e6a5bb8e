internal import Synchronization

/// The layers that bodies have, remembered from when they were checked, so that nobody inflates them again to find out.
///
/// That a layer is there, or that one of its fields has values of a type, is a *trait*; the tiles of a tileset have some hundreds of them between
/// them. A body is remembered as the numbers of its traits, mostly in 50 to 250 bytes. What is forgotten is looked at once more: that costs
/// time and nothing else. Any number of threads may share one.
public final class LayerMemory: Sendable {
    /// What a body is known by: 128 bits of its SHA-256.
    public struct Key: Hashable, Sendable {
        private let high: UInt64
        private let low: UInt64

        /// Makes a key of the digest's first two words.
        public init(_ words: (UInt64, UInt64)) { (high, low) = words }
    }

    /// The number of a trait, for the life of this object.
    public typealias Number = UInt16

    private struct Trait: Hashable {
        let layer: String
        let field: String?
        let type: VectorTileSummary.FieldType?
    }

    /// Bodies that were noted in one stretch of time.
    private struct Generation {
        private var places: [Key: UInt32] = [:]
        /// For each body the count of its traits and their numbers.
        private var numbers: [Number] = []

        subscript(key: Key) -> ArraySlice<Number>? {
            places[key].map { place in
                let start = Int(place) + 1
                return numbers[start..<start + Int(numbers[start - 1])]
            }
        }

        func isFull(_ limit: Int) -> Bool { places.count >= limit || numbers.count >= 32 * limit }

        mutating func add(_ key: Key, _ traits: [Number]) {
            guard places[key] == nil, let count = Number(exactly: traits.count) else { return }
            places[key] = UInt32(numbers.count)
            numbers.append(count)
            numbers += traits
        }
    }

    private struct State {
        var traits: [Trait] = []
        var known: [Trait: Number] = [:]
        /// Bytes of names that may still be kept: a hostile origin could make up new ones forever.
        var room = 4 << 20
        var recent = Generation()
        var older = Generation()

        mutating func number(of trait: Trait) -> Number? {
            if let number = known[trait] { return number }
            let size = trait.layer.utf8.count + (trait.field?.utf8.count ?? 0)
            guard let number = Number(exactly: traits.count), size <= room else { return nil }
            room -= size
            traits.append(trait)
            known[trait] = number
            return number
        }

        mutating func add(_ key: Key, _ traits: [Number], _ limit: Int) {
            if recent.isFull(limit) {
                older = recent
                recent = Generation()
            }
            recent.add(key, traits)
        }
    }

    private let state = Mutex(State())
    private let limit: Int

    /// An empty memory.
    ///
    /// - Parameter limit: Bodies after which it begins to forget, 1…2^25; up to twice as many are held. The default takes 20 MB at most.
    public init(limit: Int = 65_536) { self.limit = min(max(1, limit), 1 << 25) }

    /// The numbers of a tile's traits; `nil` when there would be too many different ones, or too long ones.
    public func numbers(of tile: VectorTileSummary) -> [Number]? {
        var traits: [Trait] = []
        for layer in tile.layers {
            traits.append(Trait(layer: layer.name, field: nil, type: nil))
            for (field, type) in layer.fields { traits.append(Trait(layer: layer.name, field: field, type: type)) }
        }
        return state.withLock { state in
            var numbers: [Number] = []
            numbers.reserveCapacity(traits.count)
            for trait in traits {
                guard let number = state.number(of: trait) else { return nil }
                numbers.append(number)
            }
            return numbers
        }
    }

    /// Adds to a union what a number stands for.
    ///
    /// - Parameter number: One that this memory gave; another one adds nothing.
    public func add(_ number: Number, to layers: inout VectorLayers, zoom: Int) {
        let trait = state.withLock { state in
            state.traits.indices.contains(Int(number)) ? state.traits[Int(number)] : nil
        }
        guard let trait else { return }
        var fields: [String: VectorTileSummary.FieldType] = [:]
        if let field = trait.field { fields[field] = trait.type }
        layers.add(trait.layer, fields, zoom: zoom)
    }

    /// Remembers a body.
    public func keep(_ key: Key, _ traits: [Number]) {
        state.withLock { state in if state.older[key] == nil { state.add(key, traits, limit) } }
    }

    /// The numbers of a body's traits; `nil` when it is not remembered.
    public func recall(_ key: Key) -> [Number]? {
        state.withLock { state in
            if let found = state.recent[key] { return Array(found) }
            guard let found = state.older[key].map(Array.init) else { return nil }
            // What is asked for again is worth more than what nobody asks for.
            state.add(key, found, limit)
            return found
        }
    }
}
