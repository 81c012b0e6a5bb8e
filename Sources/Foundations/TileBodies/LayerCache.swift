internal import Synchronization

/// A cache of the layers of checked bodies, so that bodies need not be decompressed again to find them.
///
/// A *trait* is the presence of a layer, or of values of one type in one of its fields; the tiles of a tileset have
/// some hundreds of traits in total. A body is stored as the numbers of its traits, mostly in 50 to 250 bytes. A body
/// that is no longer in the cache is scanned again, which only costs time. Any number of threads may share one.
public final class LayerCache: Sendable {
    /// The key of a body: 128 bits of its SHA-256.
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

    /// The bodies of one generation of the cache.
    private struct Generation {
        private var places: [Key: UInt32] = [:]
        /// For each body, the number of its traits and their numbers.
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
        /// Bytes of names that may still be kept: a hostile origin could invent new names without end.
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

        mutating func add(_ key: Key, traits: [Number], limit: Int) {
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
    /// - Parameter limit: Bodies after which old ones are removed, 1…2^25; up to twice as many are held. The default
    ///   takes 20 MB at most.
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

    /// Adds the trait with a number to a union.
    ///
    /// - Parameter number: A number from this memory; other numbers are ignored.
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
    public func remember(_ key: Key, _ traits: [Number]) {
        state.withLock { state in if state.older[key] == nil { state.add(key, traits: traits, limit: limit) } }
    }

    /// The numbers of a body's traits; `nil` if it is not in the cache.
    public func recall(_ key: Key) -> [Number]? {
        state.withLock { state in
            if let found = state.recent[key] { return Array(found) }
            guard let found = state.older[key].map(Array.init) else { return nil }
            // A body that is requested again is moved to the new generation, because it is more useful than unused
            // ones.
            state.add(key, traits: found, limit: limit)
            return found
        }
    }
}
