internal import Digests
internal import Errors
internal import Files
internal import Foundation

/// Compares installed files with their rows.
enum StoreVerify {
    /// What is wrong with the files; it blocks and, when deep, reads every byte.
    static func findings(
        _ units: [FileID: UnitRow], _ folder: StoreFolder, deep: Bool
    ) -> [(file: FileID, finding: Finding)] {
        units.sorted { $0.value.path < $1.value.path }.compactMap { file, unit in
            problem(file, unit, in: folder, deep: deep).map {
                (file, Finding(item: unit.item, path: unit.path, problem: $0))
            }
        }
    }

    private static func problem(_ file: FileID, _ unit: UnitRow, in folder: StoreFolder, deep: Bool) -> String? {
        guard let place = folder.place(of: unit) else { return "The path leaves the folder of the store." }
        guard let size = StoreScan.size(place) else { return "The file is missing." }
        // A file that was adopted where it is does not count: its row has no bytes. That of a style also has its files.
        guard size == unit.bytes || unit.format == .styleArchive && size < unit.bytes || unit.isOutside else {
            return "The file has \(size) bytes; expected \(unit.bytes)."
        }
        guard deep else { return nil }
        // The name of a pack or style that was filled is no digest of its bytes.
        let isFilled = unit.template != nil || unit.format == .styleArchive && unit.item.identifier.contains("://")
        // A full disk says nothing about the file.
        if isFilled { return (try? FileProbe.isSound(place, unit)) ?? true ? nil : "The file cannot be read." }
        do throws(StorageError) {
            // A file that was adopted where it is has the digest of its path, size and time of change.
            let found = unit.isOutside ? try FileStamp(place).digest : try Digest.ofFile(place).digest.hex
            return found == file.digest ? nil : "The file has the SHA-256 \(found); expected \(file.digest)."
        } catch { return error.message }
    }
}
