internal import TileBodies

/// Bodies that occur again, kept for the hash: the sea is one body and a million tiles.
struct CommonBodies {
    private var bodies: [UInt32: [UInt8]] = [:]
    private var room = 8 << 20
    private static let largest = 16 << 10

    subscript(number: UInt32) -> [UInt8]? { bodies[number] }

    mutating func keep(_ bytes: ArraySlice<UInt8>, _ number: UInt32) {
        guard bytes.count <= min(Self.largest, room), bodies[number] == nil else { return }
        bodies[number] = Array(bytes)
        room -= bytes.count
    }
}

/// The vector layers found in the tiles, for a tileset that does not say what it has.
struct LayerCollector {
    private let checker: BodyChecker?
    private var layers = VectorLayers()
    private var lastZoom: [UInt32: Int] = [:]

    init(_ metadata: PackageMetadata) {
        checker = metadata.format == .mvt && metadata.vectorLayersJSON == nil ? BodyChecker() : nil
    }

    /// Looks at a body's first appearance, and again when one that recurs reaches another zoom.
    mutating func add(_ body: UnsafeRawBufferPointer, number: UInt32, zoom: Int, occursAgain: Bool) throws {
        guard let checker, lastZoom[number] != zoom else { return }
        if occursAgain { lastZoom[number] = zoom }
        do {
            layers.add(try checker.summary(of: body), zoom: zoom)
        } catch {
            throw PackagesError(
                .verificationFailed, "A vector tile of zoom \(zoom) cannot be read: \(error.message)", cause: error)
        }
    }

    /// JSON text of the array, or `nil` when the tileset told it.
    var json: String? { checker == nil ? nil : layers.json }
}
