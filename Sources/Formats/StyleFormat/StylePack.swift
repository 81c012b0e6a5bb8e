internal import Digests
internal import Files
public import Foundation

/// A style pack on disk.
public struct StylePack: Sendable {
    /// The folder.
    public let folder: URL
    /// What it holds.
    public let index: StylePackIndex

    /// Opens a folder and verifies its index, but not its files.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack` if it is not a style pack, or is unfinished.
    public init(_ folder: URL) throws(StylesError) {
        self.folder = folder
        let file = folder.appendingPathComponent(PackPath.index)
        guard let bytes = try Self.contents(of: file) else {
            throw StylesError(
                .badPack,
                "'\(folder.path)' is not a style pack: it has no \(PackPath.index). Make one with packhorse style-pack."
            )
        }
        index = try StylePackIndex(bytes)
    }

    /// The bytes of a file; `nil` when it does not exist.
    ///
    /// - Throws: ``StylesError`` `io` when it exists and cannot be read.
    private static func contents(of file: URL) throws(StylesError) -> [UInt8]? {
        do {
            return [UInt8](try Data(contentsOf: file))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw StylesError(.io, "Cannot read '\(file.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// Whether a folder looks like a style pack.
    public static func looksLikePack(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(PackPath.index).path)
    }

    /// The resource of a URL, if the pack knows it.
    public func entry(_ url: String) -> StylePackIndex.Entry? {
        let at = index.entries.partitioningIndex { $0.url >= url }
        return at < index.entries.count && index.entries[at].url == url ? index.entries[at] : nil
    }

    /// The verified bytes of a resource; `nil` for an absent one.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack` naming the file.
    public func bytes(of entry: StylePackIndex.Entry) throws(StylesError) -> [UInt8]? {
        guard let path = entry.path else { return nil }
        guard let bytes = try Self.contents(of: folder.appendingPathComponent(path)) else {
            throw StylesError(.badPack, "Style pack '\(folder.path)' lacks its file '\(path)'; make it again.")
        }
        guard UInt64(bytes.count) == entry.size, Digest(of: bytes).hex == entry.sha256 else {
            throw StylesError(.badPack, "Style pack '\(folder.path)': '\(path)' was changed; make the pack again.")
        }
        return bytes
    }

    /// The style as it was fetched.
    ///
    /// - Throws: ``StylesError`` `bad-style-pack`, `bad-style`.
    public func style() throws(StylesError) -> (entry: StylePackIndex.Entry, bytes: [UInt8], document: StyleDocument) {
        guard let entry = index.entries.first(where: { $0.kind == .style }), let bytes = try bytes(of: entry) else {
            throw StylesError(.badPack, "Style pack '\(folder.path)' holds no style; make it again.")
        }
        return (entry, bytes, try StyleDocument(bytes))
    }

    /// All problems of the files; empty if each byte and each body is valid and no needed resource is missing.
    ///
    /// - Throws: ``StylesError`` when the style itself cannot be read.
    public func problems() throws(StylesError) -> [String] {
        var problems: [String] = []
        let (style, _, document) = try style()
        let needs = try StyleNeeds(
            document, base: index.style,
            choice: StyleChoice(ideographs: index.ideographs, pixelRatios: Set(index.pixelRatios)))
        let byURL = Dictionary(needs.resources.map { ($0.url, $0) }) { first, _ in first }
        for entry in index.entries where entry.url != style.url {
            guard let resource = byURL[entry.url], resource.kind == entry.kind else {
                problems.append("'\(entry.url)' is in the pack, but the style does not need it")
                continue
            }
            guard !entry.isAbsent || resource.mayBeAbsent else {
                problems.append("'\(entry.url)' is absent, but clients need it")
                continue
            }
            do throws(StylesError) {
                if let bytes = try bytes(of: entry) { try ResourceCheck.check(bytes, resource) }
            } catch {
                problems.append(error.message)
            }
        }
        for resource in needs.resources where entry(resource.url) == nil {
            problems.append("'\(resource.url)' is needed, but not in the pack")
        }
        // A file that cannot be read is reported as missing.
        let rewritten = try? Data(contentsOf: folder.appendingPathComponent(PackPath.style))
        if rewritten.map({ Digest(of: [UInt8]($0)).hex }) != index.rewritten {
            problems.append("'\(PackPath.style)' was changed or is missing")
        }
        return problems
    }

    /// The files of the pack, sorted: what a copy needs.
    public var files: [String] {
        (index.entries.compactMap(\.path) + [PackPath.index, PackPath.style]).sorted()
    }
}

extension Array {
    /// The first index whose element fulfils a condition that all later ones fulfil too.
    fileprivate func partitioningIndex(_ isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
