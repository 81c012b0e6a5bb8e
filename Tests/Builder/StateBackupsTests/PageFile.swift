import Files
import Foundation
import StateBackups
import Testing

/// A folder of one test with a file that looks like a SQLite database, and a place of backups.
final class PageFile {
    let folder = FileManager.default.temporaryDirectory.appending(path: "backups-\(UUID().uuidString)")
    var pages: [[UInt8]] = []
    static let pageSize = 512

    init(pages count: Int) throws {
        try FileManager.default.createDirectory(at: place.folder, withIntermediateDirectories: true)
        for number in 0..<count { pages.append(Self.page(number, version: 0)) }
    }

    deinit {
        do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") }
    }

    var place: FolderBackupPlace { FolderBackupPlace(folder.appending(path: "place", directoryHint: .isDirectory)) }

    /// A page that differs from all others; the first one has the header of a database.
    static func page(_ number: Int, version: Int) -> [UInt8] {
        var page = [UInt8](repeating: UInt8(truncatingIfNeeded: version), count: pageSize)
        if number == 0 { page.replaceSubrange(0..<18, with: Array("SQLite format 3\0".utf8) + [2, 0]) }
        let mark = Array("page \(number) version \(version)".utf8)
        page.replaceSubrange(100..<100 + mark.count, with: mark)
        return page
    }

    func change(_ numbers: [Int], version: Int) {
        for number in numbers { pages[number] = Self.page(number, version: version) }
    }

    var bytes: [UInt8] { pages.flatMap { $0 } }

    /// The file as it is now, under a new name.
    func copy() throws -> URL {
        let file = folder.appending(path: UUID().uuidString)
        try Data(bytes).write(to: file)
        return file
    }

    /// The names of a kind of objects.
    func names(_ kind: BackupObjectKind) async throws -> [String] { try await place.names(of: kind).sorted() }

    func restored(_ index: BackupIndex) async throws -> [UInt8] {
        let file = folder.appending(path: UUID().uuidString)
        try await BackupReader(place).restore(index, to: file)
        return Array(try Data(contentsOf: file))
    }
}
