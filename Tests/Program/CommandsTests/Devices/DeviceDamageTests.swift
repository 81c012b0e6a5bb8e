import Foundation
import Synchronization
import TestSupport
import Testing

/// `packhorse device` on a store with a damaged map.
@Suite(.timeLimit(.minutes(15)))
struct DeviceDamageTests {
    private let shop: Shop
    private let device: DeviceProgram
    private let whole: Data

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
        try shop.publish("EE", 1)
        whole = try Data(contentsOf: shop.file("catalog/packages/1/EE.mbtiles"))
    }

    /// Installs the map and writes over some of its bytes.
    private func damaged(at place: Int, _ count: Int) async throws -> URL {
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let file = try #require(try await device.files()["EE"])
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(place))
        try handle.write(contentsOf: Data(repeating: 0xA5, count: count))
        try handle.close()
        return file
    }

    private func state() async throws -> String? {
        let status = try await device.run("status", "--json")
        let items = (try status.json() as? [String: Any])?["items"] as? [[String: Any]]
        return items?.first?["state"] as? String
    }

    @Test func whatVerifyFindsIsNamedUntilItIsMended() async throws {
        let file = try await damaged(at: whole.count / 2, 64)
        #expect(try await state() == "current")
        let verify = try await device.run("verify", "--deep")
        #expect(verify.status == 65 && verify.output.contains("SHA-256"), "\(verify)")
        #expect(try await state() == "damaged")
        for words in [["status"], ["list", "--installed"]] {
            let outcome = try await device.run(words)
            #expect(outcome.errors.contains("EE is damaged") && outcome.errors.contains("repair"), "\(outcome)")
        }
        let offer = try await device.run("update", "--dry-run")
        #expect(offer.status == 0 && offer.output.contains("EE"), "\(offer)")
        #expect(try Data(contentsOf: file).count == whole.count)
        #expect(try await device.run("install", "EE").status == 0)
        #expect(try Data(contentsOf: file) == whole)
        #expect(try await state() == "current")
        #expect(try await device.run("verify", "--deep").status == 0)
    }

    @Test func aRepairThatIsKilledLeavesTheDamagedFile() async throws {
        let file = try await damaged(at: whole.count / 2, 64)
        let before = try Data(contentsOf: file)
        let half = whole.count / 2
        shop.trouble.withLock { trouble in
            trouble = { request, bytes in
                guard request.path.contains("packages/"), request.headers["range"] == nil else { return nil }
                let head = "HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n"
                return .stall(Array(head.utf8) + bytes.prefix(half))
            }
        }
        let process = try device.begin("repair")
        let parts = device.store.appending(path: "parts")
        try await Eventually.holds("half of the file") {
            device.names("parts").contains { (try? Data(contentsOf: parts.appending(path: $0)))?.count == half }
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try Data(contentsOf: file) == before)
        #expect(try await state() == "damaged")
        let run = try await device.run("run")
        #expect(run.status == 0, "\(run)")
        #expect(try Data(contentsOf: file) == whole)
        #expect(try await device.run("verify", "--deep").status == 0)
        let ranges = shop.asked().filter { $0.path.contains("packages/") }.compactMap(\.range)
        #expect(ranges == ["bytes=\(half)-"])
    }
}
