/// A small reader of vector tiles for these tests; shares no code with the writer.
///
/// Source: Mapbox Vector Tile Specification 2.1, section 4. Damaged bytes end as `nil`.
struct DecodedTile {
    enum Value: Hashable {
        case text(String)
        case number(Double)
    }

    struct Feature {
        var id: UInt64 = 0
        var type: UInt64 = 0
        var fields: [String: Value] = [:]
        /// Paths of points; a closed path does not repeat its first point.
        var paths: [[(x: Int, y: Int)]] = []
        var closed = 0
        var tags: [UInt64] = []

        func text(_ key: String) -> String? {
            if case .text(let text)? = fields[key] { text } else { nil }
        }
    }

    struct Layer {
        var name = ""
        var version: UInt64 = 0
        var extent: UInt64 = 0
        var features: [Feature] = []
        var keys: [String] = []
        var values: [Value] = []
    }

    var layers: [Layer] = []

    subscript(name: String) -> [Feature] { layers.first { $0.name == name }?.features ?? [] }

    init?(_ bytes: [UInt8]) {
        guard let fields = Self.fields(bytes[...]) else { return nil }
        for field in fields where field.number == 3 {
            guard let layer = Self.layer(field.content) else { return nil }
            layers.append(layer)
        }
    }

    private struct Field {
        var number: UInt64
        var value: UInt64 = 0
        var content: ArraySlice<UInt8> = []
    }

    private static func varint(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private static func fields(_ bytes: ArraySlice<UInt8>) -> [Field]? {
        var rest = bytes
        var result: [Field] = []
        while !rest.isEmpty {
            guard let key = varint(&rest) else { return nil }
            var field = Field(number: key >> 3)
            switch key & 7 {
            case 0:
                guard let value = varint(&rest) else { return nil }
                field.value = value
            case 1:
                guard rest.count >= 8 else { return nil }
                for byte in rest.prefix(8).reversed() { field.value = field.value << 8 | UInt64(byte) }
                rest = rest.dropFirst(8)
            case 2:
                guard let count = varint(&rest), count <= rest.count else { return nil }
                field.content = rest.prefix(Int(count))
                rest = rest.dropFirst(Int(count))
            default: return nil
            }
            result.append(field)
        }
        return result
    }

    private static func layer(_ bytes: ArraySlice<UInt8>) -> Layer? {
        guard let fields = fields(bytes) else { return nil }
        var layer = Layer()
        for field in fields {
            switch field.number {
            case 15: layer.version = field.value
            case 1: layer.name = String(decoding: field.content, as: UTF8.self)
            case 2:
                guard let feature = feature(field.content) else { return nil }
                layer.features.append(feature)
            case 3: layer.keys.append(String(decoding: field.content, as: UTF8.self))
            case 4:
                guard let value = Self.fields(field.content)?.first else { return nil }
                switch value.number {
                case 1: layer.values.append(.text(String(decoding: value.content, as: UTF8.self)))
                case 3: layer.values.append(.number(Double(bitPattern: value.value)))
                case 6: layer.values.append(.number(Double(Int64(value.value >> 1) ^ -Int64(value.value & 1))))
                default: return nil
                }
            case 5: layer.extent = field.value
            default: return nil
            }
        }
        for index in layer.features.indices {
            let tags = layer.features[index].tags
            for pair in stride(from: 0, to: tags.count - 1, by: 2) {
                layer.features[index].fields[layer.keys[Int(tags[pair])]] = layer.values[Int(tags[pair + 1])]
            }
        }
        return layer
    }

    private static func feature(_ bytes: ArraySlice<UInt8>) -> Feature? {
        guard let fields = fields(bytes) else { return nil }
        var feature = Feature()
        for field in fields {
            switch field.number {
            case 1: feature.id = field.value
            case 2:
                var rest = field.content
                while !rest.isEmpty {
                    guard let tag = varint(&rest) else { return nil }
                    feature.tags.append(tag)
                }
            case 3: feature.type = field.value
            case 4: guard draw(field.content, &feature) else { return nil }
            default: return nil
            }
        }
        return feature
    }

    private static func draw(_ bytes: ArraySlice<UInt8>, _ feature: inout Feature) -> Bool {
        var rest = bytes
        var place = (x: 0, y: 0)
        while !rest.isEmpty {
            guard let command = varint(&rest) else { return false }
            if command & 7 == 7 {
                feature.closed += 1
                continue
            }
            for _ in 0..<command >> 3 {
                guard let dx = varint(&rest), let dy = varint(&rest) else { return false }
                place.x += Int(dx >> 1) ^ -Int(dx & 1)
                place.y += Int(dy >> 1) ^ -Int(dy & 1)
                if command & 7 == 1 { feature.paths.append([]) }
                guard !feature.paths.isEmpty else { return false }
                feature.paths[feature.paths.count - 1].append(place)
            }
        }
        return true
    }
}

extension DecodedTile.Feature {
    /// Twice the area of a path by the surveyor's formula.
    static func doubledArea(_ path: [(x: Int, y: Int)]) -> Int {
        path.indices.reduce(0) { sum, index in
            let next = path[(index + 1) % path.count]
            return sum + path[index].x * next.y - next.x * path[index].y
        }
    }

    /// Whether the point (in half units, so that it lies on no edge) is inside, by the even-odd rule.
    func contains(x: Double, y: Double) -> Bool {
        var isInside = false
        for path in paths {
            for index in path.indices {
                let (one, two) = (path[index], path[(index + 1) % path.count])
                guard (Double(one.y) > y) != (Double(two.y) > y) else { continue }
                let cross = Double(one.x) + (y - Double(one.y)) / Double(two.y - one.y) * Double(two.x - one.x)
                if cross > x { isInside.toggle() }
            }
        }
        return isInside
    }
}
