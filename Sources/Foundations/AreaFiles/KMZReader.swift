import Errors

/// Reads KMZ: `doc.kml` of the archive, else its first `.kml`, and the files of the archive that links in it name.
enum KMZReader {
    /// More files of one archive are not followed.
    private static let fileLimit = 1_000

    static func read(_ input: AreaInput, _ sink: inout AreaSink) throws(AreaFileError) {
        let zip = try ZipEntries(try input.rest(limit: ZipEntries.packedLimit))
        let files = zip.entries.filter { $0.name.lowercased().hasSuffix(".kml") }
        guard let first = files.first(where: { $0.name.lowercased() == "doc.kml" }) ?? files.first else {
            throw AreaFileError(.badArea, "the ZIP archive contains no .kml file")
        }
        var waiting = [first]
        var seen: Set<String> = [first.name]
        var unpacked = 0
        while let file = waiting.popLast() {
            let content = try zip.content(of: file)
            unpacked += content.count
            guard unpacked <= 4 * ZipEntries.unpackedLimit else {
                throw AreaFileError(
                    .tooLarge, "its .kml files unpack to more than \(4 * ZipEntries.unpackedLimit >> 20) MiB")
            }
            do throws(AreaFileError) {
                for link in try KMLReader.links(AreaInput(bytes: content), &sink) {
                    guard let target = path(link.address, from: file.name),
                        let found = zip.entries.first(where: { $0.name == target })
                    else { throw KMLReader.refusal(of: link) }
                    if seen.count < fileLimit, seen.insert(found.name).inserted { waiting.append(found) }
                }
            } catch {
                throw AreaFileError(error.code, "'\(file.name.prefix(100))', \(error.message)", hint: error.hint)
            }
        }
    }

    /// The file of the archive that a link means; `nil` for an address elsewhere.
    static func path(_ address: String, from file: String) -> String? {
        guard !address.isEmpty, !address.hasPrefix("/"), !address.contains(":"), !address.contains("\\") else {
            return nil
        }
        var parts = file.split(separator: "/").dropLast().map(String.init)
        for part in address.prefix(while: { $0 != "#" && $0 != "?" }).split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
