import Errors
import Tiles

/// Reads polygon filter files of Osmosis: a title, sections of a name, positions `lon lat` and `END`, and a last `END`.
///
/// A section whose name begins with `!` is subtracted from each ring that it lies in. Several files in one are several features.
struct PolyReader {
    private static let lineLimit = 4_096
    /// A hole is searched in rings with at most so many edges altogether.
    private static let stepLimit = 1_000_000_000

    private let input: AreaInput
    private var rings: [[Coordinate]] = []
    private var holes: [[Coordinate]] = []

    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        try input.beginText()
        var reader = PolyReader(input: input)
        while let title = try reader.filled() {
            let line = input.line
            try reader.file(title)
            let name = String(decoding: title.prefix(200), as: UTF8.self)
            try sink.add(
                AreaFeature(properties: ["name": .string(name)], geometry: try reader.geometry(line)),
                at: "line \(line)")
            reader.rings = []
            reader.holes = []
        }
    }

    /// The next line that is not empty, without spaces around it.
    private func filled() throws(AreaFileError) -> [UInt8]? {
        while let line = try input.nextLine(limit: Self.lineLimit) {
            guard let first = line.firstIndex(where: { !NumberText.isSpace($0) }),
                let last = line.lastIndex(where: { !NumberText.isSpace($0) })
            else { continue }
            return Array(line[first...last])
        }
        return nil
    }

    private mutating func file(_ title: [UInt8]) throws(AreaFileError) {
        while true {
            guard let name = try filled() else {
                throw .line(input.line, "the file ends without its last END; it is cut, or no polygon filter file")
            }
            if name.elementsEqual("END".utf8) { return }
            try section(isHole: name.first == UInt8(ascii: "!"))
        }
    }

    private mutating func section(isHole: Bool) throws(AreaFileError) {
        var ring: [Coordinate] = []
        while true {
            guard let line = try filled() else {
                throw .line(input.line, "the file ends inside a section; expected END")
            }
            if line.elementsEqual("END".utf8) { break }
            let words = NumberText.words(line)
            guard words.count == 2, let longitude = NumberText.number(words[0]),
                let latitude = NumberText.number(words[1])
            else {
                let text = String(decoding: line.prefix(60), as: UTF8.self)
                throw .line(input.line - 1, "'\(text)' is no position; expected longitude and latitude, or END")
            }
            let place = Coordinate(longitude: longitude, latitude: latitude)
            try AreaSink.check(place, at: input.line - 1, turns: true)
            ring.append(place)
        }
        // Files of Geofabrik have empty sections.
        guard !ring.isEmpty else { return }
        if ring.count > 1, ring.first == ring.last { ring.removeLast() }
        guard ring.count >= 3 else {
            throw .line(input.line - 1, "a section ends that has \(ring.count) positions; a ring needs at least 3")
        }
        if isHole { holes.append(ring) } else { rings.append(ring) }
    }

    /// Each ring with the holes that have a position in it.
    ///
    /// Even-odd filling then takes the hole away; what of it lies outside of the ring is added, so that no tile is ever lost.
    private func geometry(_ line: Int) throws(AreaFileError) -> Geometry {
        guard !rings.isEmpty else {
            throw .line(line, "the polygon has no section that adds an area")
        }
        var polygons = rings.map { [$0] }
        var left = Self.stepLimit
        for hole in holes {
            for (index, ring) in rings.enumerated() {
                left -= ring.count
                guard left > 0 else {
                    throw .line(line, "the file has too many holes and rings; cut it into several files")
                }
                if hole.prefix(8).contains(where: { Self.holds(ring, $0) }) { polygons[index].append(hole) }
            }
        }
        return Geometry(polygons: polygons)
    }

    /// Whether a position lies in a ring, by the even-odd rule.
    private static func holds(_ ring: [Coordinate], _ place: Coordinate) -> Bool {
        var isInside = false
        var previous = ring[ring.count - 1]
        for next in ring {
            if (previous.latitude > place.latitude) != (next.latitude > place.latitude) {
                let share = (place.latitude - previous.latitude) / (next.latitude - previous.latitude)
                if place.longitude < previous.longitude + share * (next.longitude - previous.longitude) {
                    isInside.toggle()
                }
            }
            previous = next
        }
        return isInside
    }
}
