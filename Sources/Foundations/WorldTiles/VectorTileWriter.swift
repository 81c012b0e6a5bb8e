/// Writes Protocol Buffers fields into bytes.
struct ProtoWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func number(_ field: UInt64, _ value: UInt64) {
        varint(field << 3)
        varint(value)
    }

    mutating func data(_ field: UInt64, _ content: [UInt8]) {
        varint(field << 3 | 2)
        varint(UInt64(content.count))
        bytes += content
    }

    mutating func text(_ field: UInt64, _ content: String) { data(field, Array(content.utf8)) }

    mutating func double(_ field: UInt64, _ value: Double) {
        varint(field << 3 | 1)
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 }
    }
}

/// The value of a feature's field.
enum FieldValue: Hashable, Sendable {
    case text(String)
    case number(Double)
    case integer(Int)

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        switch self {
        case .text(let text): writer.text(1, text)
        case .number(let number): writer.double(3, number)
        // sint64 keeps small negative numbers small.
        case .integer(let integer): writer.number(6, UInt64(bitPattern: Int64(integer << 1 ^ integer >> 63)))
        }
        return writer.bytes
    }
}

/// One layer of a vector tile, version 2, in the making.
///
/// - Source: Mapbox Vector Tile Specification 2.1, section 4.
struct LayerWriter {
    private let name: String
    private var features = ProtoWriter()
    private var keys: [String] = []
    private var keyIndexes: [String: Int] = [:]
    private var values = ProtoWriter()
    private var valueIndexes: [FieldValue: Int] = [:]
    private(set) var isEmpty = true

    init(_ name: String) { self.name = name }

    mutating func polygon(id: Int, _ fields: [(String, FieldValue)], _ rings: [PixelRing]) {
        var commands = Commands()
        for ring in rings { commands.ring(ring.points) }
        add(id: id, type: 3, fields, commands)
    }

    mutating func point(id: Int, _ fields: [(String, FieldValue)], _ place: Pixel) {
        var commands = Commands()
        commands.move(to: place)
        add(id: id, type: 1, fields, commands)
    }

    mutating func line(id: Int, _ fields: [(String, FieldValue)], from start: Pixel, to end: Pixel) {
        var commands = Commands()
        commands.move(to: start)
        commands.lines(to: [end])
        add(id: id, type: 2, fields, commands)
    }

    private mutating func add(id: Int, type: UInt64, _ fields: [(String, FieldValue)], _ commands: Commands) {
        var tags = ProtoWriter()
        for (key, value) in fields {
            tags.varint(UInt64(index(of: key)))
            tags.varint(UInt64(index(of: value)))
        }
        var feature = ProtoWriter()
        feature.number(1, UInt64(id))
        feature.data(2, tags.bytes)
        feature.number(3, type)
        feature.data(4, commands.writer.bytes)
        features.data(2, feature.bytes)
        isEmpty = false
    }

    private mutating func index(of key: String) -> Int {
        if let known = keyIndexes[key] { return known }
        keyIndexes[key] = keys.count
        keys.append(key)
        return keys.count - 1
    }

    private mutating func index(of value: FieldValue) -> Int {
        if let known = valueIndexes[value] { return known }
        let index = valueIndexes.count
        valueIndexes[value] = index
        values.data(4, value.encoded)
        return index
    }

    /// Appends the layer to a tile.
    func write(to tile: inout ProtoWriter) {
        var layer = ProtoWriter()
        layer.number(15, 2)
        layer.text(1, name)
        var body = layer.bytes + features.bytes
        layer = ProtoWriter()
        for key in keys { layer.text(3, key) }
        body += layer.bytes
        body += values.bytes
        layer = ProtoWriter()
        layer.number(5, UInt64(PixelGrid.extent))
        body += layer.bytes
        tile.data(3, body)
    }
}

/// The geometry of a feature: commands and steps from the last point.
private struct Commands {
    private(set) var writer = ProtoWriter()
    private var position = Pixel(x: 0, y: 0)

    mutating func ring(_ points: [Pixel]) {
        guard let first = points.first else { return }
        move(to: first)
        lines(to: points.dropFirst())
        writer.varint(1 << 3 | 7)
    }

    mutating func move(to point: Pixel) {
        writer.varint(1 << 3 | 1)
        step(to: point)
    }

    mutating func lines(to points: ArraySlice<Pixel>) {
        writer.varint(UInt64(points.count) << 3 | 2)
        for point in points { step(to: point) }
    }

    private mutating func step(to point: Pixel) {
        zigzag(point.x - position.x)
        zigzag(point.y - position.y)
        position = point
    }

    private mutating func zigzag(_ value: Int) {
        writer.varint(UInt64(UInt32(truncatingIfNeeded: value << 1 ^ value >> 63)))
    }
}
