/// A cache of repeated bodies for the hash: the sea can be one body with a million tiles.
struct CommonBodies {
    private var bodies: [UInt32: [UInt8]] = [:]
    private var free = 8 << 20
    private static let largest = 16 << 10

    subscript(number: UInt32) -> [UInt8]? { bodies[number] }

    mutating func insert(_ bytes: ArraySlice<UInt8>, _ number: UInt32) {
        guard bytes.count <= min(Self.largest, free), bodies[number] == nil else { return }
        bodies[number] = Array(bytes)
        free -= bytes.count
    }
}
