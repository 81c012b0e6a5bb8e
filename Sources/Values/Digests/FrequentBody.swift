/// A body that many tiles have: the sea, or a picture that says "no map here".
public struct FrequentBody: Sendable, Hashable, Codable {
    /// Its SHA-256, 64 hexadecimal digits, as the key `reject` of a tileset takes it.
    public let sha256: String
    /// Its bytes.
    public let bytes: Int
    /// The share of the tiles that have it, of those with a body: 0...1.
    public let share: Double
}

/// Counts equal bodies.
public struct BodyTally: Sendable {
    private var bodies: [Digest: (bytes: Int, weight: Double, tiles: Int)] = [:]
    private var weight = 0.0

    /// Nothing counted.
    public init() {}

    /// Adds a tile with a body.
    ///
    /// - Parameter weight: How many tiles it stands for.
    public mutating func add(_ digest: Digest, bytes: Int, weight: Double = 1) {
        let known = bodies[digest] ?? (bytes, 0, 0)
        bodies[digest] = (bytes, known.weight + weight, known.tiles + 1)
        self.weight += weight
    }

    /// At most five bodies that two tiles or more have and at least a hundredth of all, the most frequent first.
    public var frequent: [FrequentBody] {
        bodies.filter { $0.value.tiles > 1 && $0.value.weight >= weight / 100 }
            .sorted { ($1.value.weight, $0.key) < ($0.value.weight, $1.key) }.prefix(5)
            .map { FrequentBody(sha256: $0.key.hex, bytes: $0.value.bytes, share: $0.value.weight / weight) }
    }
}
