internal import CommandSupport
import Errors
import Files
import Foundation
internal import TextFormats

/// The free space of the disk to which the files of an estimate are to go.
struct DiskSpace: Encodable {
    /// The folder as it was given.
    let folder: String
    /// Free bytes of its disk.
    let free: UInt64

    /// Asks the disk of a folder, or of the nearest folder above it that exists.
    ///
    /// - Throws: ``CLIError`` 66 for a disk that cannot be asked.
    init(_ folder: String) throws {
        var place = URL(filePath: folder).standardizedFileURL
        while !FileManager.default.fileExists(atPath: place.path), place.pathComponents.count > 1 {
            place.deleteLastPathComponent()
        }
        do throws(StorageError) { free = try Durable.freeBytes(place) } catch {
            throw CLIError(.noInput, "the free space of '\(folder)' cannot be read: \(Sentence.inner(error.message))")
        }
        self.folder = folder
    }

    /// Why files of these sizes may not fit, with their margins; `nil` when they fit.
    ///
    /// - Parameter files: The files of all packages by format, which lie on the disk together.
    func shortage(of files: [Estimate.File]) -> String? {
        let needed = files.reduce(0.0) { $0 + Double($1.bytes) + Double($1.margin ?? 0) }
        guard needed > Double(free) else { return nil }
        return
            "The files need up to \(Units.bytes(UInt64(min(needed, 1e18)))), and the disk of '\(folder)' has \(Units.bytes(free)) free. Free space, ask for fewer zooms or formats, or use another disk."
    }
}
