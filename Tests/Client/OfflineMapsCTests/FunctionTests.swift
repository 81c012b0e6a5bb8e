import Foundation
import OfflineMaps
import Synchronization
import TestSupport
import Testing

@testable import OfflineMapsC

/// The functions of the header, called as C calls them; the library itself is tested from C, Python and Java (ops/bindings-test).
@Suite(.timeLimit(.minutes(15)))
struct FunctionTests {
    /// Functions of C block the thread that calls them: a thread of its own, because Swift's tasks need theirs.
    private func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
            Thread { end.resume(with: Result(catching: body)) }.start()
        }
    }

    private static let key = "ed25519-public:\(Data(repeating: 7, count: 32).base64EncodedString())"

    /// The code of an error, which is freed.
    private func code(_ error: Handle?) -> String? {
        guard let error else { return nil }
        defer { freeError(error) }
        #expect(errorMessage(error).map { String(cString: $0) }?.isEmpty == false)
        return errorCode(error).map { String(cString: $0) }
    }

    private func opened(_ folder: URL) throws -> Handle {
        var maps: Handle?
        let error = openMaps(
            folder: folder.path, catalog: "http://127.0.0.1:1/", key: Self.key, token: nil, maps: &maps)
        #expect(code(error) == nil)
        return try #require(maps)
    }

    private func scratch() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "packhorse-c-\(UUID().uuidString)")
    }

    @Test func wrongArgumentsAreErrors() async throws {
        try await onThread { try refuseWrongArguments() }
    }

    private func refuseWrongArguments() throws {
        let folder = scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        var maps: Handle?
        #expect(
            code(openMaps(folder: nil, catalog: "http://h/", key: Self.key, token: nil, maps: &maps))
                == "invalid-arguments")
        #expect(
            code(openMaps(folder: "", catalog: "http://h/", key: Self.key, token: nil, maps: &maps))
                == "invalid-arguments")
        for catalog in ["", "file:///x", "http://", "no address"] {
            let error = openMaps(folder: folder.path, catalog: catalog, key: Self.key, token: nil, maps: &maps)
            #expect(code(error) == "invalid-arguments", "\(catalog)")
        }
        #expect(
            code(openMaps(folder: folder.path, catalog: "http://h/", key: "x", token: nil, maps: &maps))
                == "invalid-arguments")
        #expect(
            code(openMaps(folder: folder.path, catalog: "http://h/", key: Self.key, token: nil, maps: nil))
                == "invalid-arguments")
        let wrong: [CChar] = [-1, -2, 0]
        #expect(
            code(openMaps(folder: wrong, catalog: "http://h/", key: Self.key, token: nil, maps: &maps))
                == "invalid-arguments")
        #expect(maps == nil && !FileManager.default.fileExists(atPath: folder.path))
        var data: Handle?
        #expect(code(installed(nil, json: &data)) == "invalid-arguments")
        #expect(code(wait(nil, milliseconds: 0, ended: nil)) == "invalid-arguments")
        freeMaps(nil)
        freeData(nil)
        freeError(nil)
        freeDownload(nil)
        cancel(nil)
        #expect(dataLength(nil) == 0 && dataBytes(nil) == nil && errorCode(nil)?.pointee == 0)
    }

    @Test func anEmptyFolderAnswers() async throws {
        try await onThread { try askAnEmptyFolder() }
    }

    private func askAnEmptyFolder() throws {
        let folder = scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        let maps = try opened(folder)
        let second = try opened(folder)
        var data: Handle?
        #expect(code(installed(maps, json: &data)) == nil)
        let answer = try #require(data)
        #expect(dataLength(answer) == 2 && dataBytes(answer)?[2] == 0)
        #expect(dataType(answer).map { String(cString: $0) } == "application/json")
        freeData(answer)
        #expect(code(catalog(maps, maxAge: -1, json: &data)) == "not-in-catalog")
        #expect(code(search(maps, text: "x", language: "en", json: &data)) == "not-in-catalog")
        #expect(code(style(maps, style: "streets", package: "FR", json: &data)) == "not-found")
        #expect(code(remove(maps, package: "FR")) == "not-found")
        #expect(code(tile(maps, tileset: nil, z: 23, x: 0, y: 0, tile: &data)) == "invalid-arguments")
        #expect(code(tile(maps, tileset: nil, z: 1, x: 2, y: -1, tile: &data)) == "invalid-arguments")
        data = answer
        #expect(code(tile(maps, tileset: nil, z: 0, x: 0, y: 0, tile: &data)) == nil && data == nil)
        #expect(code(setOffline(maps, offline: 1)) == nil)
        #expect(code(catalog(maps, maxAge: 0, json: &data)) == "network")
        freeMaps(maps)
        // The other handle of the folder still works.
        #expect(code(setOffline(second, offline: 0)) == nil)
        #expect(code(updates(second, json: &data)) == nil)
        freeData(data)
        freeMaps(second)
        // And the folder can be opened again.
        freeMaps(try opened(folder))
    }

    /// What a progress function was given.
    private final class Seen: Sendable {
        let states = Mutex<[Int32]>([])
        let threads = Mutex<Set<String>>([])
        let inner = Mutex<[String]>([])
    }

    @Test func aDownloadThatFailsSaysSo() async throws {
        try await onThread { try followAFailure() }
    }

    private func followAFailure() throws {
        let folder = scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        let maps = try opened(folder)
        let seen = Seen()
        let function: ProgressFunction = { context, _, _, state, text in
            guard let context, let text else { return }
            let seen = Unmanaged<Seen>.fromOpaque(context).takeUnretainedValue()
            seen.states.withLock { $0.append(state) }
            seen.threads.withLock { _ = $0.insert(Thread.current.name ?? "") }
            seen.inner.withLock { $0.append(String(cString: text)) }
            // No waiting here.
            let error = OfflineMapsC.wait(context, milliseconds: 0, ended: nil)
            seen.inner.withLock { $0.append(errorCode(error).map { String(cString: $0) } ?? "") }
            freeError(error)
        }
        var handle: Handle?
        let context = Unmanaged.passUnretained(seen).toOpaque()
        let begun = download(
            maps, package: "FR", style: nil, progress: function, context: context, download: &handle)
        #expect(code(begun) == nil)
        var ended: Int32 = 0
        #expect(code(wait(handle, milliseconds: -1, ended: &ended)) == "network" && ended == 1)
        #expect(code(wait(handle, milliseconds: 0, ended: &ended)) == "network" && ended == 1)
        freeDownload(handle)
        #expect(seen.states.withLock { $0 } == [6])
        #expect(seen.threads.withLock { $0.count } == 1)
        #expect(seen.inner.withLock { $0.last } == "wrong-state")
        freeMaps(maps)
        withExtendedLifetime(seen) {}
    }

    /// Each function of the header is in the library, and there are no others.
    @Test func theHeaderNamesTheFunctions() throws {
        let folder = Checkout.folder.appending(path: "Sources/Client/OfflineMapsC")
        let header = try String(contentsOf: folder.appending(path: "offlinemaps.h"), encoding: .utf8)
        var declared: Set<String> = []
        for line in header.split(separator: "\n") where !line.hasPrefix(" ") && !line.hasPrefix("typedef") {
            if let match = line.firstMatch(of: /\b(ofm_[a-z_]+)\(/) { declared.insert(String(match.1)) }
        }
        var defined: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /@_cdecl\("(\w+)"\)/) { defined.insert(String(match.1)) }
        }
        #expect(declared == defined && declared.count <= 25)
    }
}
