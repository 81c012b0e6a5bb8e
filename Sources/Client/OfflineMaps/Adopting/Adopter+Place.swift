internal import Errors
internal import Files
internal import Foundation

extension Adopter {
    /// What the rules are asked to make current; the regions of a database hold its file too.
    var files: [AdoptedFile] {
        adopted.flatMap { entry in
            ([entry.file.item] + entry.regions.map { .region($0.id) }).map { AdoptedFile(file: entry.file, holder: $0) }
        }
    }

    /// Moves the part files to their places.
    ///
    /// - Parameter installed: Files that are installed already; their part files are removed.
    /// - Throws: `disk-full`, `storage`.
    mutating func place(except installed: InstalledFileTable) throws(StoreError) {
        for (number, entry) in adopted.enumerated() where entry.place == .part {
            if installed[entry.file.id] != nil {
                removePart(entry)
            } else {
                var download = DownloadItem(holder: entry.file.item, file: entry.file.id, size: entry.file.bytes)
                download.details = DownloadDetails(address: folder.root, kind: .other, file: entry.file)
                adopted[number].file = try FileInstaller.prepare(download, in: folder, source: nil)
            }
        }
    }

    /// Removes the copies that are not installed; the files themselves stay where they are.
    func giveUp() {
        for entry in adopted where entry.place == .part { removePart(entry) }
    }

    func removePart(_ entry: Adopted) {
        // A part file that stays is removed when the store is opened.
        if let part = folder.part(sha256: entry.file.sha256) { try? Durable.remove(part) }
    }
}
