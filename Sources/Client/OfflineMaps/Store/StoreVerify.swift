internal import Errors
internal import Files
internal import Foundation

/// Compares installed files with their rows.
enum StoreVerify {
    /// What is wrong with the files; it blocks and, when deep, reads every byte.
    static func findings(
        _ units: UnitTable, _ folder: StoreFolder, deep: Bool
    ) -> [(file: FileID, finding: Finding)] {
        units.values.sorted { $0.path < $1.path }.compactMap { unit in
            problem(unit, in: folder, deep: deep).map {
                (unit.id, Finding(item: unit.item, path: unit.path, problem: $0))
            }
        }
    }

    private static func problem(_ unit: InstalledFile, in folder: StoreFolder, deep: Bool) -> String? {
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
            return found == unit.sha256 ? nil : "The file has the SHA-256 \(found); expected \(unit.sha256)."
        } catch { return error.message }
    }
}
