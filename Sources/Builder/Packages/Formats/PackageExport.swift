public import Digests
internal import Files
public import Foundation
public import PackageFiles
public import TileBodies

/// The result of an export.
public struct ExportReceipt: Sendable, Hashable {
    /// The form that was written.
    public let format: PackageFormat
    /// SHA-256 of the file; of a folder's `tiles.json`, whose seal covers every other file.
    public let digest: Digest
    /// Bytes of the file, or of all files of a folder.
    public let size: UInt64
    /// Tiles in it.
    public let tiles: UInt64
    /// What was left out of the source, or was taken in another form.
    public let remarks: TileRemarks

    /// Makes a receipt from its parts.
    public init(
        format: PackageFormat, digest: Digest, size: UInt64, tiles: UInt64, remarks: TileRemarks = TileRemarks()
    ) {
        self.format = format
        self.remarks = remarks
        self.digest = digest
        self.size = size
        self.tiles = tiles
    }
}

/// How the tiles of a file of another program are taken.
public struct ImportRule: Sendable, Hashable {
    /// The format of its tiles, which one of them must be; `nil`: that of its bodies, and in doubt that of its metadata.
    public var format: TileFormat?
    /// Whether tiles that cannot be used, and repeated ones, refuse the file; else they are left out and counted.
    public var isStrict: Bool

    /// Makes a rule from its parts.
    public init(format: TileFormat? = nil, isStrict: Bool = false) {
        self.format = format
        self.isStrict = isStrict
    }
}

/// Writes a package in another form.
public enum PackageExport {
    /// Writes, flushes and verifies one file; the name appears only when all of that is done.
    ///
    /// The bytes are a function of the source's tiles and metadata and of the format. Blocks for a long time: call it on a
    /// thread of its own.
    ///
    /// - Parameters:
    ///   - source: An MBTiles file of any dialect.
    ///   - format: What to write; ``PackageFormat/maplibre`` is not written here, because it needs a style pack.
    ///   - target: The file or folder to make; a temporary one next to it is renamed to this name.
    ///   - replacing: Whether a file of that name may be replaced, or a folder that Packhorse wrote.
    ///   - mark: The mark of the file or folder, see `FileMark`; `nil` for none.
    ///   - rule: How tiles of another program are taken.
    ///   - progress: Called regularly with the number of tiles written. Throw from it (`CancellationError`) to stop.
    /// - Throws: ``PackagesError``: `exists`, `unsupported`, `bad-source`, `disk-full`, `io`, `verification-failed`.
    public static func write(
        from source: URL, format: PackageFormat, to target: URL, replacing: Bool = false,
        mark: String? = nil, rule: ImportRule = ImportRule(), progress: (UInt64) throws -> Void = { _ in }
    ) throws -> ExportReceipt {
        if format.isFolder { try FolderTarget.check(target, replacing: replacing) }
        guard replacing || !FileManager.default.fileExists(atPath: target.path) else {
            throw PackagesError(.exists, "'\(target.path)' exists already; remove it, or allow it to be replaced.")
        }
        guard let write = format.traits.write else {
            throw PackagesError(
                .unsupported, "A MapLibre offline database needs a style pack; it is not written from tiles alone.")
        }
        let temporary = TemporaryName.nextTo(target)
        do {
            let (tiles, digest, remarks) = try TileArchives.open(source) { archive, facts in
                let held = try rule.format ?? archive.knownFormat(facts, source)
                if let refusal = format.refusal(of: held) { throw PackagesError(.unsupported, refusal) }
                let feed = try TileFeed(
                    archive, facts: facts, format: held, isSaid: rule.format != nil, isStrict: rule.isStrict,
                    near: temporary.appendingPathExtension("sort"),
                    name: source.deletingPathExtension().lastPathComponent
                ) { try progress(0) }
                // The bodies of a Packhorse file were checked when it was made, and those of a third-party file are
                // checked one by one during the export. That they were written correctly is checked when the file is
                // read back.
                let (tiles, digest) = try write(feed, temporary, progress)
                return (tiles, digest, feed.remarks)
            }
            let size = try format.isFolder ? FolderTarget.size(temporary) : FileDescriptor(reading: temporary).size
            if let mark { FileMark.write(mark, to: temporary) }
            if format.isFolder {
                try FolderTarget.publish(temporary, as: target, replacing: replacing)
            } else {
                try Durable.rename(temporary, to: target)
            }
            return ExportReceipt(format: format, digest: digest, size: size, tiles: tiles, remarks: remarks)
        } catch {
            for suffix in ["", "-journal"] { unlink(temporary.path + suffix) }
            if format.isFolder { Durable.remove(folder: temporary) }
            throw PackagesError.wrapping(error, path: target.path)
        }
    }
}
