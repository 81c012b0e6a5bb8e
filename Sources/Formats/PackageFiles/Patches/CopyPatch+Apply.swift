internal import Digests
internal import Files
internal import Foundation
internal import PMTiles

extension CopyPatch {
    /// Makes the new file next to `target` and renames it when its SHA-256 is that of the patch; see
    /// ``Patch/apply(_:to:into:replacing:expecting:size:progress:)``.
    static func apply(
        _ patch: URL, to old: URL, into target: URL, replacing: Bool, expecting: (digest: Digest?, size: UInt64?),
        progress: (UInt64) throws -> Void
    ) throws -> AppliedPatch {
        try TemporaryFile.write(target, replacing: replacing) { temporary in
            let patch = try CopyPatch(patch)
            try progress(0)
            guard expecting.digest ?? patch.header.new == patch.header.new,
                expecting.size ?? patch.header.newSize == patch.header.newSize
            else {
                throw PackagesError(
                    .verificationFailed,
                    "Patch '\(patch.path)' makes another file than the expected one: \(patch.header.newSize) bytes with SHA-256 "
                        + "\(patch.header.new). Fetch the right patch, or the whole package.")
            }
            let source = try FileDescriptor(reading: old)
            try patch.checkOld(source)
            // A few bytes can ask for any number of copies.
            guard try Durable.freeBytes(temporary.deletingLastPathComponent()) >= patch.header.newSize else {
                throw PackagesError(
                    .diskFull,
                    "No space left for '\(target.path)' of \(patch.header.newSize) bytes. Free some space on that file system."
                )
            }
            let file = try FileDescriptor(creating: temporary)
            var buffer: [UInt8] = []
            let digest = try patch.run(on: source) {
                buffer += $0
                guard buffer.count >= pieceSize else { return }
                try file.write(buffer)
                buffer.removeAll(keepingCapacity: true)
                try progress(0)
            }
            try file.write(buffer)
            guard digest == patch.header.new else {
                throw PackagesError(
                    .badPatch,
                    "Patch '\(patch.path)' should make a file with SHA-256 \(patch.header.new), but makes \(digest).")
            }
            try file.sync()
            try file.close()
            let tiles = patch.header.literals == .plain ? try tiles(temporary) : 0
            try progress(tiles)
            return AppliedPatch(digest: digest, size: patch.header.newSize, tiles: tiles, tilesHash: nil)
        }
    }

    /// How many tiles the header of the new archive says; 0 when it does not say it.
    private static func tiles(_ url: URL) throws -> UInt64 {
        let file = try FileDescriptor(reading: url)
        let head = try file.read(at: 0, count: Int(min(file.size, UInt64(PMTilesHeader.size))))
        return try PMTilesHeader(head, fileSize: file.size, path: url.path).addressedTiles
    }
}
