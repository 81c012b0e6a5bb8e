import Foundation
import Synchronization
import Testing

@testable import Files

/// Folders that several threads create and remove at the same time.
struct DurableTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString)")

    @Test func foldersAreCreatedByManyAtTheSameTime() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        for round in 0..<100 {
            let above = root.appending(path: "\(round)/b/c")
            let failures = together { try Durable.makeFolder(above.appending(path: "\($0)/d")) }
            #expect(failures.isEmpty, "round \(round): \(failures)")
        }
    }

    @Test func aFileComesToItsPlaceWhileOthersRemoveTheFolder() throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        let failures = together { thread in
            let draft = root.appending(path: "draft-\(thread)")
            let place = root.appending(path: "packs/a/b/\(thread)")
            for _ in 0..<100 {
                try Data("x".utf8).write(to: draft)
                try Durable.rename(draft, creatingFolderOf: place)
                try Durable.remove(place)
                Durable.removeEmptyFolders(of: [place], upTo: root)
            }
        }
        #expect(failures.isEmpty, "\(failures)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
    }

    @Test func whatIsNoFolderIsNamed() throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        let file = root.appending(path: "file")
        try Data().write(to: file)
        for path in ["file", "file/below"] {
            let error = #expect(throws: StorageError.self) { try Durable.makeFolder(root.appending(path: path)) }
            #expect("\(try #require(error))".contains("\(root.path)/\(path)"))
        }
        #expect(throws: StorageError.self) {
            try Durable.makeFolder(root.appending(path: "none/below"), isAlone: true)
        }
        #expect(throws: StorageError.self) {
            try Durable.rename(root.appending(path: "missing"), creatingFolderOf: root.appending(path: "new/file"))
        }
    }

    /// What the threads threw.
    private func together(_ body: @Sendable (Int) throws -> Void) -> [String] {
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do { try body(thread) } catch { failures.add("\(error)") }
        }
        return failures.all
    }
}

/// Failures of several threads.
private final class Failures: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
