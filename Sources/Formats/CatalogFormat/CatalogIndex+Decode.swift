internal import Digests
public import Errors
internal import Foundation

extension CatalogIndex {
    /// Reads a document from an untrusted source.
    ///
    /// The result can be used without further checks: ids are valid file names, addresses are relative and stay below
    /// the document, sizes are not negative, digests have 64 digits, versions descend.
    /// - Throws: `catalog-corrupt` naming what is wrong.
    public init(decoding bytes: [UInt8]) throws(CatalogError) {
        guard bytes.count <= Self.maxBytes else {
            throw CatalogError(.corrupt, "The catalog has \(bytes.count) bytes, more than \(Self.maxBytes).")
        }
        let value: CatalogIndex
        do { value = try JSONDecoder().decode(CatalogIndex.self, from: Data(bytes)) } catch {
            throw CatalogError(
                .corrupt, "'catalog.json' is not a catalog of this format: \(Self.place(error))", cause: error)
        }
        try value.check()
        self = value
    }

    /// The document's bytes: sorted keys, so that equal values are equal bytes.
    package func encoded() throws(CatalogError) -> [UInt8] { try CatalogJSON.encode(self, named: Self.fileName) }

    private func check() throws(CatalogError) {
        guard format == Self.formatName, formatVersion == Self.formatVersion else {
            throw CatalogError(
                .corrupt,
                "'catalog.json' is '\(format.prefix(40))' version \(formatVersion); this build reads '\(Self.formatName)' "
                    + "version \(Self.formatVersion).")
        }
        guard sequence ?? 0 >= 0 else { throw CatalogError(.corrupt, "The catalog's sequence is negative.") }
        guard CatalogMirror.areValid(mirrors ?? []) else {
            throw CatalogError(
                .corrupt,
                "The catalog names more than \(CatalogMirror.limit) mirrors, one twice, or one that is no http(s) address of a folder."
            )
        }
        try checkStyles()
        var paths: Set<String> = []
        for edition in editions {
            let known = try CatalogEdition(group: edition.group, language: edition.language)
            let list = edition.list
            guard known.path == edition.path, paths.insert(edition.path).inserted,
                list.url == edition.path + "packages.json",
                Self.isWellFormed(list.url, size: list.size, sha256: list.sha256)
            else {
                throw CatalogError(
                    .corrupt, "The catalog lists edition '\(edition.path.prefix(80))' twice or with wrong values.")
            }
        }
        var seen: Set<String> = []
        for package in packages {
            let name = "\(package.edition)\(package.id)".prefix(200)
            guard CatalogEntry.isID(package.id), paths.contains(package.edition),
                seen.insert("\(package.edition) \(package.id)").inserted
            else { throw CatalogError(.corrupt, "Package '\(name)' has an invalid id or edition, or is a duplicate.") }
            guard package.part?.fits(package.id) ?? true else {
                throw CatalogError(.corrupt, "Package '\(name)' cannot be the part that it is said to be.")
            }
            var last = Int64(Int32.max) + 1
            for version in package.versions {
                guard version.version >= 1, Int64(version.version) < last else {
                    throw CatalogError(.corrupt, "The versions of package '\(name)' do not descend.")
                }
                last = Int64(version.version)
                let group = version.companion.map { "groups/\(CatalogCompanion.group(of: $0.kind))/" }
                let isAlone =
                    version.files.count == 1 && package.part == nil && package.tilePacks == nil
                guard group.map({ package.edition.hasPrefix($0) && isAlone }) ?? true else {
                    throw CatalogError(
                        .corrupt,
                        "Package '\(name)' is a companion with more than one file, or in the group of another kind.")
                }
                try Self.check(version, name)
            }
            guard package.tilePacks.map({ Self.isWellFormed($0.url, size: $0.size, sha256: $0.sha256) }) ?? true else {
                throw CatalogError(
                    .corrupt, "The tile packs of package '\(name)' have an invalid address, size or digest.")
            }
            guard last <= Int64(Int32.max) else { throw CatalogError(.corrupt, "Package '\(name)' has no version.") }
        }
    }

    private func checkStyles() throws(CatalogError) {
        let styles = styles ?? []
        guard Set(styles.map(\.id)).count == styles.count,
            styles.allSatisfy({
                CatalogEdition.isWord($0.id) && $0.version >= 1
                    && Self.isWellFormed($0.url, size: $0.size, sha256: $0.sha256)
            })
        else {
            throw CatalogError(
                .corrupt,
                "The catalog names a style twice, or a style with an invalid id, version, address, size or digest.")
        }
    }

    private static func check(_ version: Version, _ name: Substring) throws(CatalogError) {
        let formats = version.files.map(\.format)
        let mains = version.companion == nil ? CatalogEntry.mainFiles.map(\.format) : [CatalogCompanion.format]
        let patched = { (format: String?) in
            format.map { $0 != CatalogEntry.mainFile.format && formats.contains($0) }
                ?? (formats.first == CatalogEntry.mainFile.format)
        }
        guard formats.first.map(mains.contains) ?? false, version.companion?.isValid ?? true,
            Set(formats).count == formats.count,
            formats.allSatisfy(CatalogEdition.isWord),
            version.files.allSatisfy({ isWellFormed($0.url, size: $0.size, sha256: $0.sha256) }),
            version.patches.allSatisfy({
                1..<version.version ~= $0.from && isWellFormed($0.url, size: $0.size, sha256: $0.sha256)
                    && patched($0.format)
            }),
            Set(version.patches.map { "\($0.from) \($0.format ?? "")" }).count == version.patches.count
        else {
            throw CatalogError(
                .corrupt,
                "Version \(version.version) of package '\(name)' lists a file or patch with an invalid address, size or digest."
            )
        }
    }

    private static func isWellFormed(_ url: String, size: Int64, sha256: String) -> Bool {
        size >= 0 && Digest(hex: sha256)?.hex == sha256 && isInside(url)
    }

    /// Whether a path is relative, never leaves its folder, and needs no escaping.
    public static func isInside(_ path: String) -> Bool {
        guard 1...500 ~= path.utf8.count else { return false }
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        // A folder's name is not empty and does not begin with a dot.
        var last = slash
        for byte in path.utf8 {
            guard isUnescaped(byte), last != slash || (byte != slash && byte != dot) else { return false }
            last = byte
        }
        return last != slash
    }

    /// Whether a byte is a letter, a digit or one of `. _ - ( ) , /`.
    private static func isUnescaped(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private static func place(_ error: any Error) -> String {
        let context: DecodingError.Context? =
            switch error as? DecodingError {
            case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
                .valueNotFound(_, let context):
                context
            default: nil
            }
        guard let context, !context.codingPath.isEmpty else { return "it is not JSON of the expected structure" }
        return "see " + context.codingPath.map(\.stringValue).joined(separator: ".").prefix(200)
    }
}
