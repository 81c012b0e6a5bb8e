internal import Errors
internal import GRDB
internal import PackageFiles
internal import StyleFormat
internal import TileBodies

/// The resources of a database; each is checked once.
struct ResourceRows {
    /// A resource without its bytes.
    struct Entry {
        let id: Int64
        let kind: Int64
        let isEmpty: Bool
    }

    /// By URL.
    private(set) var entries: [String: Entry] = [:]
    private let database: Database

    init(_ database: Database, _ report: inout VerifyReport) throws {
        self.database = database
        let rows = try Row.fetchCursor(database, sql: "SELECT id, url, kind, \(CachedRow.columns) FROM resources")
        while let row = try rows.next() {
            guard let id = Int64.fromDatabaseValue(row[0]), let url = String.fromDatabaseValue(row[1]),
                let kind = Int64.fromDatabaseValue(row[2]), ResourceKind.known.contains(kind)
            else {
                report.add("bad-row", at: "resources", because: "a row has no URL, or a kind that clients do not know")
                continue
            }
            let body = CachedRow.body(row, from: 3, at: "resource '\(url.prefix(200))'", into: &report)
            var isEmpty = false
            switch body {
            case .bytes(let bytes): Self.check(bytes, kind: kind, url: url, into: &report)
            case .none: isEmpty = true
            case .broken: break
            }
            if isEmpty, kind != 4 {
                report.add(
                    "bad-row", at: "resource '\(url.prefix(200))'",
                    because: "it has no bytes; clients accept that only for glyphs")
            }
            entries[url] = Entry(id: id, kind: kind, isEmpty: isEmpty)
        }
    }

    /// The unpacked bytes of a resource; `nil` when it has none, or they cannot be read.
    func bytes(_ url: String) throws -> [UInt8]? {
        guard
            let row = try Row.fetchOne(
                database, sql: "SELECT \(CachedRow.columns) FROM resources WHERE url = ?", arguments: [url])
        else { return nil }
        var unheard = VerifyReport(path: "", size: 0, kind: "")
        guard case .bytes(let bytes) = CachedRow.body(row, from: 0, at: url, into: &unheard) else { return nil }
        return bytes
    }

    private static func check(_ bytes: [UInt8], kind: Int64, url: String, into report: inout VerifyReport) {
        let place = "resource '\(url.prefix(200))'"
        do {
            switch kind {
            case 1: _ = try StyleDocument(bytes)
            case 4: if url.prefix(while: { $0 != "?" }).hasSuffix(".pbf") { _ = try GlyphScanner.scan(bytes) }
            case 5: _ = try BodyChecker().check(bytes, coding: .identity, declared: .png)
            case 2, 6:
                guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
                    return report.add("bad-resource", at: place, because: "it is not a JSON object")
                }
            default: break
            }
        } catch let error as StylesError {
            report.add(error.code.description, at: place, because: error.message)
        } catch let error as TileBodiesError {
            report.add(error.code.description, at: place, because: error.message)
        } catch {
            report.add("bad-resource", at: place, because: "\(error)")
        }
    }
}
