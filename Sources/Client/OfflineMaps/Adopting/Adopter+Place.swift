internal import Errors
internal import Files
internal import Foundation

extension Adopter {
    /// What the rules are asked to make current, with the rows of the files.
    var files: [(file: AdoptedFile, row: UnitRow)] {
        adopted.flatMap { entry in
            var unit = entry.unit
            if unit.format == .styleArchive, entry.place == .part, let archive = folder.file(unit.path) {
                unit.bytes = StyleFiles.bytes(archive)
            }
            let bytes = entry.place == .outside ? 0 : unit.bytes
            // The regions of a database hold its file too.
            let holders = [entry.item] + entry.regions.map { .region($0.id) }
            return holders.map { (AdoptedFile(file: entry.piece.file, bytes: bytes, holder: $0), unit) }
        }
    }

    /// Moves the part files to their places.
    ///
    /// - Parameter installed: Files that are installed already; their part files are removed.
    /// - Throws: `disk-full`, `storage`.
    func place(except installed: Set<FileID>) throws(StoreError) {
        for entry in adopted where entry.place == .part {
            if installed.contains(entry.piece.file) {
                removePart(entry)
            } else {
                let details = PieceDetails(address: folder.root, kind: .other, unit: entry.unit)
                _ = try PieceWork.prepare(entry.piece, details, in: folder, source: nil)
            }
        }
    }

    /// Removes the copies that are not installed; the files themselves stay where they are.
    func giveUp() {
        for entry in adopted where entry.place == .part { removePart(entry) }
    }

    private func removePart(_ entry: Adopted) {
        // A part file that stays is removed when the store is opened.
        if let part = folder.part(sha256: entry.piece.file.digest) { try? Durable.remove(part) }
    }
}
