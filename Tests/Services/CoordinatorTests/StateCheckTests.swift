import Errors
import Foundation
import GRDB
import Testing

@testable import Coordinator

/// `packhorse state check` on what is no state: which file, what is wrong, what to do; and the file stays as it is.
struct StateCheckTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "state.sqlite") }

    private func failure() async throws -> CoordinatorError {
        try await #require(throws: CoordinatorError.self) { try await StateFile.check(folder) }
    }

    private func withFolder(_ body: () async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        try await body()
    }

    @Test func aMissingFolderOrStateIsNamed() async throws {
        let none = try await failure()
        #expect(none.code == .missing && none.message.contains("data folder '\(folder.path)' does not exist"))
        #expect(none.hint?.contains("--data") == true)
        try await withFolder {
            let empty = try await failure()
            #expect(empty.code == .missing && empty.message.contains("'\(file.path)' does not exist: no coordinator"))
            #expect(empty.hint?.contains("--data") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test(arguments: ["", "hello, this is a text and not a database"])
    func aFileThatIsNoDatabaseIsSaidToBeSoAndStays(text: String) async throws {
        try await withFolder {
            try Data(text.utf8).write(to: file)
            let error = try await failure()
            #expect(error.code == .damagedState)
            #expect(error.message.contains("'\(file.path)' is \(text.isEmpty ? "empty" : "damaged or belongs to")"))
            #expect(text.isEmpty || error.message.contains("it is not a SQLite database"))
            #expect(error.hint?.contains("packhorse state restore FILE --data '\(folder.path)'") == true)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
        }
    }

    @Test func aDatabaseOfAnotherProgramIsRefusedAndStays() async throws {
        try await withFolder {
            let other = try DatabaseQueue(path: file.path)
            try await other.write { try $0.execute(sql: "CREATE TABLE song (title TEXT)") }
            try other.close()
            let bytes = try Data(contentsOf: file)
            let error = try await failure()
            #expect(error.code == .damagedState && error.message.contains("it has other tables than a coordinator's"))
            #expect(error.hint?.contains("state restore") == true)
            #expect(throws: CoordinatorError.self, "a coordinator does not write into it") {
                try StateStore(folder: folder)
            }
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test func aRowThatCannotBeDecodedIsNamedWithItsFile() async throws {
        try await withFolder {
            await (try StateStore(folder: folder)).close()
            let edited = try DatabaseQueue(path: file.path)
            try await edited.write {
                try $0.execute(sql: "INSERT INTO event (wall, job, kind, data) VALUES (1, 1, 1, x'FFFFFF')")
            }
            try edited.close()
            let error = try await failure()
            #expect(error.code == .damagedState && error.message.contains("'\(file.path)' is damaged: one of its rows"))
            #expect(error.details.count == 1 && error.hint?.contains("state restore") == true, "\(error)")
        }
    }

    @Test func aDamagedStateIsNamedWithWhatTheCheckFound() async throws {
        try await withFolder {
            await (try StateStore(folder: folder)).close()
            let whole = try Data(contentsOf: file)
            #expect(try await StateFile.check(folder).problems == [])
            // The root pages of the tables; the first page is the schema's.
            var bytes = whole
            for page in 1..<(whole.count / 4_096) {
                bytes.replaceSubrange(page * 4_096..<page * 4_096 + 64, with: Data(repeating: 0xEE, count: 64))
            }
            try bytes.write(to: file)
            let error = try await failure()
            #expect(error.code == .damagedState && error.message.contains("'\(file.path)' is damaged: "), "\(error)")
            #expect(!error.message.contains("\n") && error.details.allSatisfy { !$0.contains("\n") })
            #expect(error.hint?.contains("packhorse state restore FILE") == true)
        }
    }
}
