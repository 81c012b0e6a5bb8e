import Foundation
import Synchronization
import TestSupport

/// The store of one test, and the program `packhorse device` on it.
final class DeviceProgram: Sendable {
    /// How a command ended.
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String

        /// The printed JSON.
        func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
    }

    let store: URL
    private let running = Mutex<[Process]>([])

    /// - Parameter shop: The store is in the folder of the shop.
    init(_ shop: Shop, store name: String = "maps") { store = shop.file(name) }

    deinit {
        for process in running.withLock({ $0 }) where process.isRunning { process.terminate() }
    }

    private static let program: URL = {
        var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        for _ in 0..<4 {
            let candidate = folder.appending(path: "packhorse")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        return URL(filePath: ".build/release/packhorse")
    }()

    private func process(_ arguments: [String], output: URL, errors: URL) throws -> Process {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["device"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["PACKHORSE_STORE": store.path]) { $1 }
        process.standardInput = FileHandle.nullDevice
        for file in [output, errors] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        return process
    }

    /// Runs a command to its end.
    @discardableResult func run(_ arguments: String...) async throws -> Outcome { try await run(arguments) }

    /// Runs a command to its end.
    @discardableResult func run(_ arguments: [String]) async throws -> Outcome {
        let name = UUID().uuidString
        let folder = store.deletingLastPathComponent()
        let (output, errors) = (folder.appending(path: "out-\(name)"), folder.appending(path: "err-\(name)"))
        let process = try process(arguments, output: output, errors: errors)
        // Foundation's Process keeps what it was given: a thousand runs would be two thousand open files.
        defer {
            // The program has ended; what it wrote is in the files.
            for handle in [process.standardOutput, process.standardError] { try? (handle as? FileHandle)?.close() }
        }
        try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in ended.resume() }
            do { try process.run() } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }

    /// Starts a command that ends at the latest with the test.
    func begin(_ arguments: String...) throws -> Process {
        let folder = store.deletingLastPathComponent()
        let process = try process(
            arguments, output: folder.appending(path: "out-\(UUID().uuidString)"),
            errors: folder.appending(path: "err-\(UUID().uuidString)"))
        try process.run()
        running.withLock { $0.append(process) }
        return process
    }

    /// Starts a command that ends with the test; returns its first line of output.
    func start(_ arguments: String...) async throws -> String {
        let folder = store.deletingLastPathComponent()
        let output = folder.appending(path: "out-\(UUID().uuidString)")
        let errors = folder.appending(path: "err-\(UUID().uuidString)")
        let process = try process(arguments, output: output, errors: errors)
        try process.run()
        running.withLock { $0.append(process) }
        return try await Eventually.get("the first line of \(arguments)") {
            let said = try String(contentsOf: output, encoding: .utf8)
            if let end = said.firstIndex(of: "\n") { return String(said[..<end]) }
            guard process.isRunning else {
                throw CocoaError(
                    .executableRuntimeMismatch,
                    userInfo: [NSLocalizedDescriptionKey: try String(contentsOf: errors, encoding: .utf8)])
            }
            return nil
        }
    }

    // MARK: - What is in the store

    /// The installed files by their items, as `EE`, `EE terrain`, `demo style`.
    func files() async throws -> [String: URL] {
        let listed = try await run("list", "--installed", "--json")
        let rows = try listed.json() as? [[String: Any]] ?? []
        var files: [String: URL] = [:]
        for row in rows {
            guard let item = row["item"] as? [String: Any], let id = item["id"] as? String else { continue }
            let name = [id, item["group"] as? String, item["language"] as? String].compactMap { $0 }
                .joined(separator: " ")
            files[name] = (row["file"] as? String).map { URL(filePath: $0) } ?? store
        }
        return files
    }

    /// The names of the files below a folder of the store.
    func names(_ folder: String) -> [String] {
        let path = store.appending(path: folder).path
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }
}
