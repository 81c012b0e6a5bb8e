import Errors
import Foundation
import Synchronization
import TestSupport
import Testing
import Transfer

@testable import StyleFormat
@testable import Styles

/// Packs made from a real server.
@Suite(.timeLimit(.minutes(15)))
struct StylePackTests {
    private func options(attempts: Int = 2) -> StylePackOptions {
        var options = StylePackOptions()
        options.transfer.retry.maxAttempts = attempts
        options.transfer.retry.base = .milliseconds(1)
        return options
    }

    @Test func aPackHoldsEverythingAndProvesIt() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { StyleServer.answer($0) }
        defer { server.stop() }
        let location = StyleLocation(address: "\(server.url)/s/style.json")
        let report = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        #expect(report.resources == 1 + 3 + 4 + 131 && report.absent == 2 + 129 && report.kept == 0)
        #expect(
            report.kinds == [
                "style": 1, "source": 1, "data": 1, "image": 1, "sprite-json": 2, "sprite-image": 2, "glyphs": 131,
            ])
        let pack = try StylePack(scratch.url("a"))
        #expect(try pack.problems() == [])
        #expect(pack.index.name == "Small" && pack.index.style == location.address)
        let sprite = try #require(pack.entry("\(server.url)/s/art/sprite.png?v=2"))
        #expect(sprite.etag == "\"\(StyleServer.pixel.count)\"" && sprite.modified == "Mon, 01 Jan 2024 00:00:00 GMT")
        #expect(try pack.bytes(of: sprite) == StyleServer.pixel)
        #expect(pack.entry("\(server.url)/s/fonts/A%20Font%2cB/512-767.pbf")?.isAbsent == true)
        let files = try contents(scratch.url("a"))
        #expect(Set(files.keys) == Set(pack.files))
        #expect(files["style.original.json"] == Array(StyleServer.style.utf8))
        // The same answers make the same bytes.
        _ = try await StylePackCollector.collect(location, into: scratch.url("b"), options: options())
        #expect(try contents(scratch.url("b")) == files)
    }

    @Test func theRewrittenStyleNamesThePacksFiles() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { StyleServer.answer($0) }
        defer { server.stop() }
        _ = try await StylePackCollector.collect(
            StyleLocation(address: "\(server.url)/s/style.json"), into: scratch.url("a"), options: options())
        let data = try Data(contentsOf: scratch.url("a").appendingPathComponent("style.json"))
        let style = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let sources = try #require(style["sources"] as? [String: [String: Any]])
        #expect(style["sprite"] as? String == "sprites/default/sprite")
        #expect(style["glyphs"] as? String == "glyphs/{fontstack}/{range}.pbf")
        #expect(sources["map"]?["url"] as? String == "sources/map.json")
        #expect(sources["spots"]?["data"] as? String == "data/spots.geojson")
        #expect(sources["photo"]?["url"] as? String == "images/photo.png")
        #expect(sources["hill"]?["tiles"] as? [String] == ["\(server.url)/s/hill/{z}/{x}/{y}.png"])
    }

    @Test func aBrokenRunGoesOn() async throws {
        let scratch = try Scratch()
        let isBroken = Atomic<Bool>(true)
        let server = try ScriptedServer { request in
            StyleServer.answer(request) {
                isBroken.load(ordering: .relaxed) && $0.path == "/photo.png" ? .reply(500) : nil
            }
        }
        defer { server.stop() }
        let location = StyleLocation(address: "\(server.url)/s/style.json")
        await #expect {
            _ = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        } throws: {
            let error = $0 as? StylesError
            return error?.code == .missingResource && error?.message.contains("photo.png") == true
        }
        #expect(throws: StylesError.self) { try StylePack(scratch.url("a")) }
        let before = server.requests.count
        // A file that was damaged meanwhile is fetched again.
        try Data("{".utf8).write(to: scratch.url("a/sources/map.json"))
        isBroken.store(false, ordering: .relaxed)
        let report = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        #expect(report.kept == 3 + 4 + 131 - 2)
        #expect(Set(server.requests.dropFirst(before).map(\.path)) == ["/s/style.json", "/photo.png", "/s/map.json"])
        #expect(try StylePack(scratch.url("a")).problems() == [])
        #expect(try contents(scratch.url("a"))["style-pack.partial"] == nil)
    }

    @Test func aSecondRunTransfersNothingThatDidNotChange() async throws {
        let scratch = try Scratch()
        let spots = Mutex(#"{"type": "FeatureCollection", "features": []}"#)
        let server = try ScriptedServer { request in
            StyleServer.answer(request) { request in
                let text = spots.withLock { $0 }
                guard request.path == "/spots.geojson", request.headers["if-none-match"] != "\"\(text.utf8.count)\""
                else {
                    return nil
                }
                return .reply(200, headers: [("ETag", "\"\(text.utf8.count)\"")], body: Array(text.utf8))
            }
        }
        defer { server.stop() }
        let location = StyleLocation(address: "\(server.url)/s/style.json")
        _ = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        let first = try contents(scratch.url("a"))
        let again = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        #expect(again.received == UInt64(StyleServer.style.utf8.count))
        #expect(again.kept == 1 + 3 + 2 + 2)
        #expect(try contents(scratch.url("a")) == first)
        spots.withLock { $0 = #"{"type": "FeatureCollection", "features": [1]}"# }
        let changed = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        #expect(changed.kept == again.kept - 1)
        let now = try contents(scratch.url("a"))
        #expect(now.filter { first[$0.key] != $0.value }.keys.sorted() == ["data/spots.geojson", "style-pack.json"])
    }

    @Test func everyChangedFileIsNoticed() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { StyleServer.answer($0) }
        defer { server.stop() }
        _ = try await StylePackCollector.collect(
            StyleLocation(address: "\(server.url)/s/style.json"), into: scratch.url("a"), options: options())
        for (name, bytes) in try contents(scratch.url("a")) {
            let file = scratch.url("a").appendingPathComponent(name)
            for place in Set([0, bytes.count / 2, bytes.count - 1]) {
                var damaged = bytes
                damaged[place] ^= 1
                try Data(damaged).write(to: file)
                let problems = (try? StylePack(scratch.url("a")).problems()) ?? ["refused"]
                #expect(!problems.isEmpty, "\(name) at \(place)")
            }
            try FileManager.default.removeItem(at: file)
            #expect(((try? StylePack(scratch.url("a")).problems()) ?? ["refused"]) != [], "\(name)")
            try Data(bytes).write(to: file)
        }
        #expect(try StylePack(scratch.url("a")).problems() == [])
    }

    @Test func othersFoldersAreLeftAlone() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { StyleServer.answer($0) }
        defer { server.stop() }
        try Data("mine".utf8).write(to: scratch.url("notes.txt"))
        await #expect {
            _ = try await StylePackCollector.collect(
                StyleLocation(address: "\(server.url)/s/style.json"), into: scratch.folder, options: options())
        } throws: { ($0 as? StylesError)?.code == .exists }
        #expect(try contents(scratch.folder).keys.sorted() == ["notes.txt"])
    }

    @Test func aRedirectIntoAForbiddenHostIsRefused() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { request in
            StyleServer.answer(request) {
                $0.path == "/s/map.json"
                    ? .reply(302, headers: [("Location", "https://tile.openstreetmap.org/x")]) : nil
            }
        }
        defer { server.stop() }
        await #expect {
            _ = try await StylePackCollector.collect(
                StyleLocation(address: "\(server.url)/s/style.json"), into: scratch.url("a"), options: options())
        } throws: { ($0 as? StylesError)?.message.contains("redirect was refused") == true }
    }

    @Test func packedAnswersAreUnpackedAndAFileMayHoldTheStyle() async throws {
        let scratch = try Scratch()
        // "{}" as gzip, without a Content-Encoding, as some servers keep it.
        let packed: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 171, 174, 5, 0, 67, 191, 166, 163, 2, 0, 0, 0]
        let server = try ScriptedServer { request in
            StyleServer.answer(request) { $0.path == "/s/art/sprite.json?v=2" ? .reply(200, body: packed) : nil }
        }
        defer { server.stop() }
        try Data(StyleServer.style.utf8).write(to: scratch.url("mine.json"))
        let location = StyleLocation(address: "\(server.url)/s/mine.json", file: scratch.url("mine.json"))
        _ = try await StylePackCollector.collect(location, into: scratch.url("a"), options: options())
        #expect(try contents(scratch.url("a"))["sprites/default/sprite.json"] == Array("{}".utf8))
        #expect(!server.requests.contains { $0.path == "/s/mine.json" })
    }

    /// Read back with Python's zipfile, which shares nothing with the writer.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "python3 is absent"))
    func theArchiveIsOneForOtherPrograms() async throws {
        let scratch = try Scratch()
        let server = try ScriptedServer { StyleServer.answer($0) }
        defer { server.stop() }
        _ = try await StylePackCollector.collect(
            StyleLocation(address: "\(server.url)/s/style.json"), into: scratch.url("a"), options: options())
        let pack = try StylePack(scratch.url("a"))
        try StoredZip.write(pack.files, of: pack.folder, to: scratch.url("a.zip"))
        try StoredZip.write(pack.files, of: pack.folder, to: scratch.url("b.zip"))
        #expect(try Data(contentsOf: scratch.url("a.zip")) == Data(contentsOf: scratch.url("b.zip")))
        let script = """
            sys, zipfile, os = map(__import__, ("sys", "zipfile", "os"))
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            names = archive.namelist()
            assert names == sorted(names), names
            for name in names:
                assert archive.read(name) == open(os.path.join(sys.argv[2], name), 'rb').read(), name
                assert archive.getinfo(name).date_time == (1980, 1, 1, 0, 0, 0)
            found = sorted(os.path.relpath(os.path.join(d, f), sys.argv[2]) for d, _, fs in os.walk(sys.argv[2]) for f in fs)
            assert names == found, set(names) ^ set(found)
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-c", script, scratch.url("a.zip").path, scratch.url("a").path]
        let status: Int32 = try await withCheckedThrowingContinuation { ended in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                ended.resume(throwing: error)
            }
        }
        #expect(status == 0)
    }
}
