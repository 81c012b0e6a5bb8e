internal import AreaFiles
internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import TextFormats
internal import Tiles
internal import WebRequests

/// Answers a file with an area with its tiles: a mask that jobs, estimates, schedules and extracts take.
enum AreaFileResponder {
    private struct View: Encodable, Sendable {
        /// The kind of the format: `gpx`.
        let format: String
        /// West, south, east, north in degrees; west > east across the antimeridian.
        let bounds: [Double]
        let zoom: Int
        /// How many tiles there are from zoom 0 to `zoom`.
        let tiles: UInt64
        /// CARTO's text, with its zoom.
        let mask: String
        /// What the file contains, without its margin; `nil` where it was not asked for.
        let outline: AreaOutline?
    }

    private struct Wishes: Sendable {
        let zoom: Int
        let margin: Margin?
        /// Metres; `nil` when it is not given.
        let radius: Double?
        let sink: AreaSink.Wishes
        let hasOutline: Bool
    }

    /// More comparisons of an edge with a tile than this take too many seconds of a core.
    private static let mostWork = 300_000_000.0

    /// Metres around the points of a table without a radius.
    private static let usualRadius = 1_000.0

    static func read(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let wishes = try wishes(routed)
        let media = (routed.request.headers[.contentType] ?? "").lowercased()
        guard !media.hasPrefix("multipart/") else {
            throw Problem(
                .unsupportedMediaType, "The body is a form. Send the file itself, as 'curl --data-binary @FILE' does.")
        }
        let uploads = routed.services.uploads
        return try await uploads.admit { () async throws(Problem) in
            let body = try await routed.request.wholeBody(
                AreaUploads.mostBytes, orSay: "The file has more than \(AreaUploads.mostBytes >> 20) MiB.")
            let bytes = Array(body.readableBytesView)
            return APIResponder.json(try await uploads.run { () throws(Problem) in try view(bytes, wishes) })
        }
    }

    private static func wishes(_ routed: RoutedRequest) throws(Problem) -> Wishes {
        var margin: Margin?
        if let text = routed.path.parameter("margin") {
            do throws(TilesError) { margin = try Margin(parsing: text) } catch {
                throw Problem(.badParameter, error.message)
            }
        }
        var radius: Double?
        if let text = routed.path.parameter("radius") {
            do throws(Units.DistanceProblem) {
                radius = try Units.distance(String(text.prefix(40)), as: "radius", limit: Margin.limit)
            } catch {
                throw Problem(.badParameter, error.message)
            }
        }
        return Wishes(
            zoom: try routed.number("zoom", 0...14) ?? 14, margin: margin, radius: radius,
            sink: AreaSink.Wishes(
                waypoints: try routed.number("waypoints", 0...1) == 1, isRoute: try routed.number("route", 0...1) == 1),
            hasOutline: try routed.number("outline", 0...1) == 1)
    }

    private static func view(_ bytes: [UInt8], _ wishes: Wishes) throws(Problem) -> View {
        let input = AreaInput(bytes: bytes)
        let format: AreaFormat
        var shape: AreaShape
        do throws(AreaFileError) {
            format = try AreaFormat(of: input)
            guard !format.needsProgram else {
                throw AreaFileError(
                    .badArea, "it is \(format.name), which this server does not read",
                    hint: "convert it to GeoJSON in WGS 84, for example with ogr2ogr -t_srs EPSG:4326")
            }
            shape = try format.read(input, wishes.sink).shape
        } catch {
            throw Problem(
                .wrongRequest, "The file cannot be read: \(error.message)" + (error.hint.map { "; \($0)" } ?? ""))
        }
        // The places themselves, not the circles around them.
        let outline = wishes.hasOutline ? AreaOutline(shape) : nil
        if format.takesRadius, !wishes.sink.isRoute {
            shape = shape.circled(radiusMeters: wishes.radius ?? usualRadius)
        } else if wishes.radius != nil {
            throw Problem(
                .badParameter, "The file is \(format.name), and a radius is only for a table of points; use margin.")
        }
        guard let box = shape.bounds.map({ box in wishes.margin.map { box.widened(byMeters: $0.widest) } ?? box })
        else {
            throw Problem(.wrongRequest, "The file contains no coordinates.")
        }
        guard shape.work(wishes.zoom, within: wishes.margin) <= mostWork else {
            throw Problem(
                .areaTooBig, "The area has too many edges and tiles for zoom \(wishes.zoom); ask for a lower zoom.")
        }
        let mask = wishes.margin.map { shape.mask(wishes.zoom, within: $0) } ?? shape.mask(wishes.zoom)
        let text = mask.cartoWire
        guard text.utf8.count <= AreaRequest.maxMask else {
            throw Problem(.areaTooBig, "The mask of zoom \(wishes.zoom) is too long; ask for a lower zoom.")
        }
        return View(
            format: format.kind, bounds: [box.west, box.south, box.east, box.north], zoom: wishes.zoom,
            tiles: mask.count(in: ZoomRange(min: 0, max: wishes.zoom) ?? .all), mask: text, outline: outline)
    }
}
