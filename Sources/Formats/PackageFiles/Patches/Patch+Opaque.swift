internal import Digests
internal import Files
public import Foundation
internal import TileBodies

extension Patch {
    /// Whether this build can make and apply patches of files of any kind: whether it has zstd.
    public static var knowsOpaqueFiles: Bool { PrefixUnpacker.isAvailable }

    /// Writes, flushes and proves the patch that turns one file of any kind into another, byte for byte
    /// (docs/formats/companion-patch.md); the file gets its name only after that.
    ///
    /// ``apply(_:to:into:replacing:expecting:size:progress:)`` applies it. The bytes are a function of the two files and of the
    /// version of zstd. Memory: at most 170 MB, whatever the sizes of the files. Blocks for a long time: call it on a thread of
    /// its own.
    ///
    /// - Parameters:
    ///   - old: A file, also an empty one.
    ///   - new: Another one.
    ///   - target: The patch.
    ///   - replacing: Whether a file of that name may be replaced.
    ///   - progress: Called for each MiB that is read. Throw from it (`CancellationError`) to stop.
    /// - Throws: `unsupported` when this build has no zstd; `exists`, `disk-full`, `io`, `verification-failed`.
    @discardableResult
    public static func makeOpaque(
        old: URL, new: URL, into target: URL, replacing: Bool = false, progress: () throws -> Void = {}
    ) throws -> PatchReceipt {
        guard let packer = PrefixPacker() else {
            throw PackagesError(.unsupported, "This build has no zstd, so it makes no patches of files of any kind.")
        }
        return try TemporaryFile.write(target, replacing: replacing) { temporary in
            let files = (old: try FileDescriptor(reading: old), new: try FileDescriptor(reading: new))
            var writer = CopyPatchWriter(old: files.old, new: files.new, near: temporary)
            try StretchMatcher(old: files.old, new: files.new).run(into: &writer, progress)
            try writer.finish(temporary, packer: packer)
            return try CopyPatch.proven(temporary, on: files.old, PatchCounts(), from: old, to: new, named: target)
        }
    }
}
