internal import CatalogFormat

/// Short lists of texts in one column, without JSON: fields end at U+001F, rows at U+001E.
///
/// The catalog's texts have no control characters (``CatalogContent/init(_:)``); a text that has one is left out.
enum FieldText {
    private static let field: Unicode.Scalar = "\u{1F}"
    private static let row: Unicode.Scalar = "\u{1E}"

    /// Writes rows.
    static func write(_ rows: [[String]]) -> String {
        var text = ""
        for fields in rows where fields.allSatisfy({ !$0.unicodeScalars.contains { $0 == field || $0 == row } }) {
            for part in fields {
                text += part
                text.unicodeScalars.append(field)
            }
            text.unicodeScalars.append(row)
        }
        return text
    }

    /// Reads rows of exactly so many fields; other rows are left out.
    static func read(_ text: String, fields count: Int) -> [[String]] {
        text.utf8.split(separator: UInt8(row.value)).compactMap { line in
            var fields = line.split(separator: UInt8(field.value), omittingEmptySubsequences: false)
            guard fields.popLast()?.isEmpty == true, fields.count == count else { return nil }
            return fields.map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension FieldText {
    static func write(_ names: [String: String]) -> String {
        write(names.sorted { $0.key < $1.key }.map { [$0.key, $0.value] })
    }

    static func names(_ text: String) -> [String: String] {
        Dictionary(read(text, fields: 2).map { ($0[0], $0[1]) }) { first, _ in first }
    }

    static func write(_ companion: CatalogCompanion) -> String {
        write([[companion.kind, companion.fileExtension, companion.engine ?? ""]])
    }

    static func companion(_ text: String) -> CatalogCompanion? {
        read(text, fields: 3).first.map {
            CatalogCompanion(kind: $0[0], fileExtension: $0[1], engine: $0[2].isEmpty ? nil : $0[2])
        }
    }

    static func write(_ files: [CatalogContent.Download]) -> String {
        write(files.map { [$0.format, "\($0.from)", $0.url, "\($0.size)", $0.sha256] })
    }

    static func downloads(_ text: String) -> [CatalogContent.Download] {
        read(text, fields: 5).compactMap { fields in
            guard let from = Int32(fields[1]), let size = UInt64(fields[3]) else { return nil }
            return CatalogContent.Download(
                format: fields[0], from: from, url: fields[2], size: size, sha256: fields[4])
        }
    }
}
