import Errors
import Tiles

/// Reads KML: points, lines, polygons and tracks of placemarks, wherever they are.
///
/// Names are compared without their namespaces. A line goes the short way round the world. Names and extended data become properties.
struct KMLReader {
    /// The elements that matter.
    private enum Element: String {
        case kml, name, value, coordinates, coord, href
        case placemark = "Placemark"
        case data = "Data"
        case simpleData = "SimpleData"
        case point = "Point"
        case line = "LineString"
        case ring = "LinearRing"
        case polygon = "Polygon"
        case track = "Track"
        case link = "NetworkLink"
        case outer = "outerBoundaryIs"
        case inner = "innerBoundaryIs"
        case other
    }

    /// The most of a text that becomes a property.
    private static let textLimit = 4_096

    private let xml: XMLScanner
    private var path: [Element] = []
    private var feature: AreaFeature?
    private var key: String?
    private var words: [UInt8] = []
    private var coordinates = KMLCoordinates()
    private var ring: [Coordinate] = []
    private var rings: [[Coordinate]] = []
    /// Files that the file names instead of containing them.
    private(set) var links: [(line: Int, address: String?)] = []

    private init(_ xml: XMLScanner) { self.xml = xml }

    /// Reads a file that must not name other files.
    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        for link in try links(input, &sink) { throw refusal(of: link) }
    }

    static func refusal(of link: (line: Int, address: String)) -> AreaFileError {
        .line(
            link.line, "a NetworkLink names '\(link.address.prefix(200))', and nothing outside of the file is read",
            hint: "download it and give that file")
    }

    /// Reads a file.
    ///
    /// - Returns: The files that its links name.
    static func links(
        _ input: AreaInput, _ sink: inout AreaSink
    ) throws(AreaFileError) -> [(line: Int, address: String)] {
        var reader = KMLReader(try XMLScanner(input))
        while true {
            switch try reader.xml.next() {
            case .start: try reader.begin(&sink)
            case .text: try reader.take(&sink)
            case .end: try reader.end(&sink)
            // A link without an address names nothing.
            case .finished: return reader.links.compactMap { link in link.address.map { (link.line, $0) } }
            }
        }
    }

    private var parent: Element { path.count > 1 ? path[path.count - 2] : .other }

    private mutating func begin(_ sink: inout AreaSink) throws(AreaFileError) {
        let element = Element(rawValue: String(decoding: xml.name, as: UTF8.self)) ?? .other
        path.append(element)
        guard path.count > 1 || element == .kml || element == .placemark else {
            // KML of before 2.0 may have another root; GPX and HTML are something else.
            guard xml.isNamed("Document") || xml.isNamed("Folder") else {
                throw xml.fault("the XML is no KML: its root is <\(xml.string(xml.name.prefix(60).map(\.self)))>")
            }
            return
        }
        switch element {
        case .placemark: feature = AreaFeature(geometry: Geometry())
        case .data, .simpleData: key = xml.attribute("name").map { xml.string(Array($0)) }
        case .polygon: rings = []
        case .ring: ring = []
        case .link: links.append((xml.line, nil))
        default: break
        }
        words.removeAll(keepingCapacity: true)
        xml.keepsText = isText(element)
    }

    /// Whether the text of an element is read.
    private func isText(_ element: Element) -> Bool {
        switch element {
        case .coordinates, .coord, .simpleData: true
        case .value: parent == .data
        case .name: parent == .placemark
        case .href: path.contains(.link)
        default: false
        }
    }

    private mutating func take(_ sink: inout AreaSink) throws(AreaFileError) {
        guard path.last == .coordinates else {
            if words.count < Self.textLimit { words += xml.text.prefix(Self.textLimit) }
            return
        }
        let kind = parent
        var found: [Coordinate] = []
        try coordinates.take(xml.text, at: xml.line) { (place) throws(AreaFileError) in found.append(place) }
        try add(found, to: kind, &sink)
    }

    private mutating func add(_ places: [Coordinate], to kind: Element, _ sink: inout AreaSink) throws(AreaFileError) {
        switch kind {
        case .point: for place in places { try sink.add(waypoint: place, at: xml.line) }
        case .line: for place in places { try sink.extendRoute(place, at: xml.line) }
        case .ring: ring += places
        default: break
        }
    }

    private mutating func end(_ sink: inout AreaSink) throws(AreaFileError) {
        let element = path.last ?? .other
        switch element {
        case .coordinates:
            let kind = parent
            var found: [Coordinate] = []
            try coordinates.end(at: xml.line) { (place) throws(AreaFileError) in found.append(place) }
            try add(found, to: kind, &sink)
        case .line, .track: sink.endRoute()
        case .ring: try endRing(&sink)
        case .polygon:
            if !rings.isEmpty { try add(polygon: rings, &sink) }
            rings = []
        case .coord where parent == .track: try addCoord(&sink)
        case .placemark:
            if let feature, sink.wishes.features { try sink.add(feature, at: "line \(xml.line)") }
            feature = nil
        case .name where parent == .placemark: set("name")
        case .value where parent == .data: if let key { set(key) }
        case .simpleData: if let key { set(key) }
        case .href:
            if path.contains(.link), let last = links.indices.last {
                links[last].address = xml.string(trimmed(words))
            }
        default: break
        }
        path.removeLast()
        xml.keepsText = path.last.map { isText($0) } ?? false
    }

    private mutating func endRing(_ sink: inout AreaSink) throws(AreaFileError) {
        defer { ring = [] }
        guard !ring.isEmpty else { return }
        guard parent == .outer || parent == .inner else {
            // A ring by itself is a line.
            for place in ring { try sink.extendRoute(place, at: xml.line) }
            return sink.endRoute()
        }
        let open = ring.count > 1 && ring.first == ring.last ? ring.count - 1 : ring.count
        guard open >= 3 else {
            throw xml.fault("a ring of a polygon has \(open) positions; expected at least 3")
        }
        rings.append(ring)
    }

    /// `lon lat altitude`, with spaces.
    private func addCoord(_ sink: inout AreaSink) throws(AreaFileError) {
        let parts = NumberText.words(words)
        guard !parts.isEmpty else { return }
        guard (2...3).contains(parts.count), let longitude = NumberText.number(parts[0]),
            let latitude = NumberText.number(parts[1])
        else {
            throw xml.fault(
                "a coord of a track is '\(xml.string(Array(words.prefix(60))))'; expected 'lon lat altitude'")
        }
        let place = Coordinate(longitude: longitude, latitude: latitude)
        try AreaSink.check(place, at: xml.line)
        try sink.extendRoute(place, at: xml.line)
    }

    private mutating func add(polygon: [[Coordinate]], _ sink: inout AreaSink) throws(AreaFileError) {
        if sink.wishes.features, feature != nil {
            feature?.geometry.polygons.append(polygon)
        } else {
            try sink.add(AreaFeature(geometry: Geometry(polygons: [polygon])), at: "line \(xml.line)")
        }
    }

    private mutating func set(_ key: String) {
        let text = xml.string(trimmed(words))
        if !text.isEmpty { feature?.properties[key] = .string(text) }
    }

    private func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let start = bytes.firstIndex { !NumberText.isSpace($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !NumberText.isSpace($0) }.map { $0 + 1 } ?? start
        return Array(bytes[start..<end])
    }
}
