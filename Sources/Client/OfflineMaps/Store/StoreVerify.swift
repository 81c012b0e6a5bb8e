internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// Compares installed files with their rows.
enum StoreVerify {
    /// What is wrong with the files; it blocks and, when deep, reads every byte.
    static func findings(
        _ rows: StoreRows, _ folder: StoreFolder, deep: Bool
    ) -> [(file: InstalledFile, finding: Finding)] {
        (Array(rows.files.values) + rows.faulty.values).sorted { $0.path < $1.path }.compactMap { installed in
            (problem(installed, in: folder, deep: deep) ?? known(installed, deep: deep)).map {
                (installed, Finding(item: installed.item, path: installed.path, problem: $0))
            }
        }
    }

    /// Whether a file that was missing is at its place again, whole.
    static func isBack(_ installed: InstalledFile, in folder: StoreFolder) -> Bool {
        // The bytes of a file in the store may have been damaged before; those of a file outside of it were never known.
        problem(installed, in: folder, deep: !installed.isOutside) == nil
    }

    /// What is at the place of a missing file.
    struct Look: Sendable {
        let file: FileID
        /// Whether it is the file, whole.
        let isBack: Bool
        /// `nil` when there is nothing.
        let stamp: OutsideFileStamp?
    }

    /// Looks for a missing file; it blocks, and reads every byte of a file in the store.
    ///
    /// - Parameter notWhole: The stamp of what was read at the place before and was not whole; while it is there, it is not
    ///   read again.
    static func look(for installed: InstalledFile, in folder: StoreFolder, notWhole: OutsideFileStamp?) -> Look {
        // What cannot be inspected is not there.
        let stamp = folder.place(of: installed).flatMap { try? OutsideFileStamp($0) }
        let isNew = stamp != nil && stamp != notWhole
        return Look(file: installed.id, isBack: isNew && isBack(installed, in: folder), stamp: stamp)
    }

    /// What was found before, where the file has not been read again or its digest cannot prove it.
    private static func known(_ installed: InstalledFile, deep: Bool) -> String? {
        installed.state == .damaged && !(deep && installed.isProvenByDigest)
            ? "A read has found that it is damaged." : nil
    }

    /// What is wrong with one file; `nil` when nothing is.
    static func problem(_ installed: InstalledFile, in folder: StoreFolder, deep: Bool) -> String? {
        guard let place = folder.place(of: installed) else { return "The path leaves the folder of the store." }
        guard let size = StoreScan.size(place) else {
            return installed.isOutside
                ? "The file is missing; the store has no copy of it, because it was adopted where it is."
                : "The file is missing."
        }
        if installed.isOutside {
            // Its row has no bytes: its digest is that of its path, size and time of change.
            guard (try? OutsideFileStamp(place).digest) == installed.sha256 else {
                return "The file is not the one that was adopted: its size (now \(size) bytes) or its time differs."
            }
        } else if size != installed.bytes, installed.format != .styleArchive || size > installed.bytes {
            // The bytes of a style include its unpacked files.
            return "The file has \(size) bytes; expected \(installed.bytes)."
        }
        guard deep else { return nil }
        // A full disk says nothing about the file.
        if installed.isFilled {
            return (try? FileProbe.isSound(place, installed)) ?? true ? nil : "The file cannot be read."
        }
        do throws(StorageError) {
            let found = installed.isOutside ? installed.sha256 : try Digest.ofFile(place).digest.hex
            guard found == installed.sha256 else {
                return "The file has the SHA-256 \(found); expected \(installed.sha256)."
            }
        } catch { return error.message }
        // No catalog vouches for the bytes of an adopted file, and one that stays where it is has no digest of them.
        guard installed.isAdopted, [.mbtiles, .pmtiles].contains(installed.format) else { return nil }
        do { return try FileProbe.findings(in: place).damage.map { "The file is damaged: \($0)." } } catch {
            return (error as? any CodedError)?.message ?? "\(error)"
        }
    }
}

extension InstalledFile {
    /// Whether it was filled tile by tile or resource by resource: then its name is no digest of its bytes.
    var isFilled: Bool { template != nil || format == .styleArchive && item.identifier.contains("://") }

    /// Whether a file with its digest is whole for readers; those of a style read its unpacked files.
    var isProvenByDigest: Bool { !isFilled && !isAdopted && format != .styleArchive }
}
