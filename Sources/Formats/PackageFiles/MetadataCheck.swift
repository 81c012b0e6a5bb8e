internal import Foundation
package import GRDB
internal import Synchronization
package import TileBodies
package import Tiles

/// The checked values of a file's metadata table.
package struct MetadataCheck {
    package private(set) var format: TileFormat?
    package private(set) var zooms: ZoomRange?
    package private(set) var tilesHash: String?
    /// Whether the file is a patch, in which a body may be NULL.
    package private(set) var isPatch = false
    /// Where the file says its format.
    private var formatPlace = "metadata 'format'"

    /// - Parameter tables: The names of tables and views in lower case.
    package init(_ database: Database, tables: Set<String>, into report: inout VerifyReport) throws {
        guard tables.contains("metadata") else {
            report.add(
                "no-metadata", at: "file", because: "it has no table 'metadata'; CARTO's client deletes such a file")
            return
        }
        var values: [String: String] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT name, value FROM metadata")
        while let row = try rows.next() {
            let name: DatabaseValue = row[0]
            let value: DatabaseValue = row[1]
            guard case .string(let key) = name.storage else {
                report.add("bad-metadata", at: "metadata", because: "a row's name is not text")
                continue
            }
            // Values are text by the specification, numbers in many files, and rarely NULL.
            let text: String
            switch value.storage {
            case .string(let string): text = string
            case .int64(let number): text = String(number)
            case .double(let number): text = String(number)
            default: text = ""
            }
            if values.updateValue(text, forKey: key) != nil {
                report.add("bad-metadata", at: "metadata '\(key)'", because: "the name occurs twice")
            }
        }
        check(values, &report)
    }

    /// Checks rows that were read elsewhere; a PMTiles file needs no name.
    package init(_ values: [String: String], requiresName: Bool, _ report: inout VerifyReport) {
        if !requiresName { formatPlace = "header" }
        check(values, requiresName: requiresName, &report)
    }

    private mutating func check(
        _ values: [String: String], requiresName: Bool = true, _ report: inout VerifyReport
    ) {
        report.format = values["format"]
        tilesHash = values["agg_tiles_hash"]
        isPatch = values[PatchSchema.before] != nil
        report.isPatch = isPatch
        if requiresName, values["name"] == nil {
            report.add("bad-metadata", at: "metadata 'name'", because: "it is required and missing")
        }
        if let text = values["format"] {
            format = TileFormat(word: text)
            if format == nil {
                report.add(
                    "unknown-format", at: "metadata 'format'",
                    because: "'\(text.prefix(64))' is not one of \(TileFormat.knownWords)")
            }
        } else if requiresName {
            report.add("bad-metadata", at: "metadata 'format'", because: "it is required and missing")
        }
        if let text = values["bounds"], !Self.areBounds(text) {
            report.add(
                "bad-metadata", at: "metadata 'bounds'",
                because: "'\(text.prefix(64))' is not west,south,east,north in degrees")
        }
        let least = values["minzoom"].map { Int($0) }
        let most = values["maxzoom"].map { Int($0) }
        for (name, zoom) in [("minzoom", least), ("maxzoom", most)] where zoom == .some(nil) {
            report.add("bad-metadata", at: "metadata '\(name)'", because: "it is not a whole number")
        }
        if case (.some(.some(let low)), .some(.some(let high))) = (least, most) {
            zooms = ZoomRange(min: low, max: high)
            if zooms == nil {
                report.add(
                    "bad-metadata", at: "metadata 'maxzoom'",
                    because: "zooms \(low) to \(high) are not a range of 0 to 22")
            }
        }
        if format?.traits.isVector == true { checkLayers(values["json"], &report) }
    }

    /// Takes the format that the bodies have, and names the difference to what the metadata say.
    ///
    /// Pictures are counted before anything is said about them: several formats can be in one file.
    mutating func take(_ found: TileFormat?, _ report: inout VerifyReport) {
        guard let found, found != format else { return }
        if let format, !format.traits.isVector, !found.traits.isVector { return }
        if format != nil { addWrongFormat(found, &report) }
        format = found
        report.format = report.format ?? found.rawValue
    }

    /// Says that no tile is of the stated format.
    func addWrongFormat(_ found: TileFormat, _ report: inout VerifyReport) {
        guard let format else { return }
        report.add(
            "wrong-format", at: formatPlace, because: "it says \(format.rawValue), the tiles are \(found.rawValue)")
    }

    /// The last text in which ``checkLayers(_:_:)`` found nothing: all packages of a job have the same layers.
    private static let lastLayers = Mutex("")

    private func checkLayers(_ text: String?, _ report: inout VerifyReport) {
        guard let text else {
            return report.add(
                "no-vector-layers", at: "metadata 'json'", because: "vector tiles need it, with vector_layers")
        }
        if Self.lastLayers.withLock({ $0 == text }) { return }
        let value: Any? = {
            do { return try JSONSerialization.jsonObject(with: Data(text.utf8)) } catch { return nil }
        }()
        guard let layers = (value as? [String: Any])?["vector_layers"] as? [[String: Any]] else {
            return report.add(
                "no-vector-layers", at: "metadata 'json'", because: "it is not JSON with an array vector_layers")
        }
        let bad = layers.filter { layer in !(layer["id"] is String && layer["fields"] is [String: Any]) }
        for _ in bad {
            report.add("no-vector-layers", at: "metadata 'json'", because: "a layer lacks its id or its fields")
        }
        if bad.isEmpty { Self.lastLayers.withLock { $0 = text } }
    }

    package static func areBounds(_ text: String) -> Bool {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
            number -> Double in
            let words = number.split(whereSeparator: \.isWhitespace)
            return words.count == 1 ? Double(words[0]) ?? .nan : .nan
        }
        return numbers.count == 4 && abs(numbers[0]) <= 180 && abs(numbers[2]) <= 180 && abs(numbers[1]) <= 90
            && abs(numbers[3]) <= 90 && numbers[1] <= numbers[3]
    }
}
