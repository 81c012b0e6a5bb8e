import Foundation
import TestSupport
import Testing

/// A monthly build over an archive with a list of its blocks: only changed ranges are received.
///
/// Real processes, a real server.
@Suite(.serialized, .timeLimit(.programs))
struct ChangedRangesTests {
    private static let zoom = 6
    /// Each body is a block, as `pmtiles makesync --block-size-kb 0` makes them.
    private static let blockSize = 0
    private static let area = [
        "bbox(-180,-85,180,85)", "--tile-limit", "100000", "--zoom", "0-\(zoom)", "--tileset",
    ]

    /// Of 100 tiles three have changed: in stretches of 64, as where a town was mapped, and some alone.
    private static func isChanged(_ id: UInt64) -> Bool { id / 64 % 40 == 11 || id % 401 == 200 }

    /// A server with builds, and the tileset file that follows them.
    private struct Planet {
        let server: BuildServer
        let tileset: String

        init(_ scratch: Scratch) throws {
            server = try BuildServer()
            let file = scratch.url("planet.yaml")
            try Data(
                """
                id: planet
                sync: true
                latest:
                  index: \(server.url)/builds.json
                  url: \(server.url)/{build}
                """.utf8
            ).write(to: file)
            tileset = file.path
        }

        func publish(_ name: String, _ archive: BlockArchive, list: [UInt8]?) {
            server.put("/\(name).pmtiles", archive.bytes)
            if let list { server.put("/\(name).pmtiles.sync", list) }
            server.put("/builds.json", #"[{"key":"\#(name).pmtiles"}]"#)
        }
    }

    /// The hash of the tiles of a build that knows no earlier one.
    private func fresh(_ name: String, _ planet: Planet, _ cluster: Cluster, _ scratch: Scratch) async throws -> String?
    {
        let file = scratch.url("fresh-\(name).yaml")
        try Data("id: fresh-\(name)\nurl: \(planet.server.url)/\(name).pmtiles\n".utf8).write(to: file)
        let job = try await cluster.build(Self.area + [file.path, "--id", "fresh-\(name)"])
        #expect(job.blockList == nil && job.notSent == 0)
        return job.packages.first?.tilesHash
    }

    @Test func aMonthlyBuildReceivesWhatHasChanged() async throws {
        let scratch = try Scratch()
        let planet = try Planet(scratch)
        defer { planet.server.stop() }
        let cluster = try await Cluster(workers: 2, in: scratch)
        let area = Self.area + [planet.tileset]
        let october = BlockArchive(zoom: Self.zoom) { _ in 0 }
        planet.publish("20261003", october, list: october.list(blockSize: Self.blockSize))
        let first = try await cluster.build(area)
        #expect(first.blockList?.hasPrefix("used: ") == true, "\(first.blockList ?? "")")
        #expect(first.notSent == 0 && first.receivedAgain == 0 && first.packages.map(\.version) == [1])

        let november = BlockArchive(zoom: Self.zoom) { Self.isChanged($0) ? 1 : 0 }
        planet.publish("20261103", november, list: november.list(blockSize: Self.blockSize))
        let changed = november.entries.filter { Self.isChanged($0.tile) }.reduce(0) { $0 + $1.body.count }
        let all = november.entries.reduce(0) { $0 + $1.body.count }
        let sent = planet.server.sent
        let second = try await cluster.build(area)
        #expect(second.received >= changed && second.received < changed * 11 / 10, "\(second.received), \(changed)")
        #expect(second.receivedAgain <= second.received - changed && second.notSent > all * 9 / 10)
        // With heads, directories, the list and its samples.
        #expect(planet.server.sent - sent < second.received + all / 3, "\(planet.server.sent - sent)")
        #expect(second.packages.map(\.version) == [2])
        #expect(try await fresh("20261103", planet, cluster, scratch) == second.packages.first?.tilesHash)
        let status = try await cluster.run(["status", "\(second.job)"]).output
        #expect(status.contains("unchanged and not sent") && status.contains("blocks   list used: "), "\(status)")
        try JSONReference().read(try await cluster.run(["status", "\(second.job)", "--json"]).output, as: "job")
        let events = try await cluster.run(["events", "--job", "\(second.job)"]).output
        #expect(events.contains(" of it for nothing, "), "\(events)")

        // Nothing but the address is new: packages are not merged.
        planet.publish("20261110", november, list: november.list(blockSize: Self.blockSize))
        let third = try await cluster.build(area)
        #expect(third.received == 0 && third.packages.map(\.state) == ["unchanged"], "\(third.received)")

        // A list of the build before, and none: everything is received, and said.
        let december = BlockArchive(zoom: Self.zoom) { Self.isChanged($0) || $0 % 100 == 7 ? 2 : 0 }
        planet.publish("20261203", december, list: november.list(blockSize: Self.blockSize))
        let fourth = try await cluster.build(area)
        #expect(fourth.blockList?.hasPrefix("not used: ") == true && fourth.notSent == 0, "\(fourth.blockList ?? "")")
        #expect(fourth.receivedAgain > all / 2 && fourth.received > all / 2)
        #expect(try await fresh("20261203", planet, cluster, scratch) == fourth.packages.first?.tilesHash)
        try await cluster.stop()
    }
}
