import Foundation
import TestSupport

@testable import StyleFormat
@testable import Styles

/// A folder of one test, removed with it.
final class Scratch {
    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-styles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: folder) }
    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

/// Every file below a folder, by its relative name.
func contents(_ folder: URL) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        let url = folder.appendingPathComponent(name)
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
        if !isFolder.boolValue { files[name] = [UInt8](try Data(contentsOf: url)) }
    }
    return files
}

func document(_ text: String) throws -> StyleDocument { try StyleDocument(Array(text.utf8)) }

/// A style with one symbol layer that has this `text-font`.
func style(font: String, field: String = #""{name}""#) throws -> StyleDocument {
    try document(
        """
        {"version": 8, "glyphs": "http://a/{fontstack}/{range}.pbf", "sources": {}, "layers": [
          {"id": "names", "type": "symbol", "layout": {"text-field": \(field), "text-font": \(font)}}]}
        """)
}

/// A server of a small style with relative references.
struct StyleServer {
    /// The smallest PNG: one transparent pixel.
    static let pixel = SamplePictures.pixel
    /// A range without glyphs: one font stack with a name.
    static let glyphs: [UInt8] = [0x0A, 3, 0x0A, 1, 0x41]

    static let style = """
        {"version": 8, "name": "Small", "sprite": "art/sprite?v=2", "glyphs": "fonts/{fontstack}/{range}.pbf",
         "sources": {"map": {"type": "vector", "url": "map.json"},
                     "hill": {"type": "raster", "tiles": ["hill/{z}/{x}/{y}.png"], "tileSize": 256},
                     "spots": {"type": "geojson", "data": "/spots.geojson"},
                     "photo": {"type": "image", "url": "../photo.png", "coordinates": []},
                     "clip": {"type": "video", "urls": ["clip.mp4"]}},
         "layers": [{"id": "names", "type": "symbol", "source": "map", "source-layer": "names",
                     "layout": {"text-field": "{name}", "text-font": ["A Font", "B"]}}]}
        """

    /// What is asked for below `/s/`, as the style above needs it; `change` may answer first.
    static func answer(
        _ request: ScriptedServer.Request, change: (ScriptedServer.Request) -> ScriptedServer.Answer? = { _ in nil }
    ) -> ScriptedServer.Answer {
        if let answer = change(request) { return answer }
        let body: [UInt8]
        switch request.path {
        case "/s/style.json": body = Array(style.utf8)
        case "/s/map.json": body = Array(#"{"tilejson": "3.0.0", "tiles": ["t/{z}/{x}/{y}.pbf"]}"#.utf8)
        case "/spots.geojson": body = Array(#"{"type": "FeatureCollection", "features": []}"#.utf8)
        case "/photo.png", "/s/art/sprite.png?v=2": body = pixel
        case "/s/art/sprite.json?v=2": body = Array("{}".utf8)
        case "/s/art/sprite@2x.png?v=2", "/s/art/sprite@2x.json?v=2": return .reply(404)
        case "/s/fonts/A%20Font%2cB/0-255.pbf", "/s/fonts/A%20Font%2cB/256-511.pbf": body = glyphs
        case let path where path.hasPrefix("/s/fonts/A%20Font%2cB/"): return .reply(404)
        default: return .reply(500)
        }
        let tag = "\"\(body.count)\""
        if request.headers["if-none-match"] == tag { return .reply(304) }
        return .reply(
            200, headers: [("ETag", tag), ("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")], body: body)
    }
}
