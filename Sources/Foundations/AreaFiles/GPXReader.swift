import Errors
import Tiles

/// Reads GPX 1.0 and 1.1: tracks and routes as lines, waypoints as points.
///
/// Names are compared without their namespaces. Segments of a track are not joined. The positions between the points of a route that
/// Garmin's extension `rpt` stores belong to the route.
enum GPXReader {
    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        let xml = try XMLScanner(input)
        var (isSegment, isRoute, isPoint) = (false, false, false)
        while true {
            switch try xml.next() {
            case .start:
                switch xml.depth {
                case 1:
                    guard xml.isNamed("gpx") else { throw xml.fault("the XML is no GPX: its root is not <gpx>") }
                case 2:
                    isRoute = xml.isNamed("rte")
                    if xml.isNamed("wpt") { try sink.add(waypoint: try position(xml), at: xml.line) }
                    isSegment = xml.isNamed("trk")
                case 3:
                    isPoint = isRoute && xml.isNamed("rtept")
                    if isPoint { try sink.extendRoute(try position(xml), at: xml.line) }
                case 4 where isSegment && xml.isNamed("trkpt"):
                    try sink.extendRoute(try position(xml), at: xml.line)
                default:
                    if isPoint, xml.isNamed("rpt") { try sink.extendRoute(try position(xml), at: xml.line) }
                }
            case .end:
                // A segment of a track, or a route, ends.
                if xml.depth == 1 || xml.depth == 2 && isSegment { sink.endRoute() }
                if xml.depth == 1 { (isSegment, isRoute) = (false, false) }
                if xml.depth == 2 { isPoint = false }
            case .text: continue
            case .finished: return
            }
        }
    }

    private static func position(_ xml: XMLScanner) throws(AreaFileError) -> Coordinate {
        guard let latitude = xml.attribute("lat").flatMap(number), let longitude = xml.attribute("lon").flatMap(number)
        else {
            throw xml.fault("<\(xml.string(xml.name))> has no numbers lat and lon")
        }
        let place = Coordinate(longitude: longitude, latitude: latitude)
        try AreaSink.check(place, at: xml.line)
        return place
    }

    private static func number(_ text: ArraySlice<UInt8>) -> Double? {
        guard let first = text.first, let last = text.last else { return nil }
        if !NumberText.isSpace(first), !NumberText.isSpace(last) { return NumberText.number(text) }
        return text.split(whereSeparator: NumberText.isSpace).first.flatMap(NumberText.number)
    }
}

extension XMLScanner {
    /// Whether the element of the last event has this name, without its prefix.
    func isNamed(_ wanted: StaticString) -> Bool {
        name.elementsEqual(UnsafeBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount))
    }
}
