import Catalog
import CatalogFormat
import Foundation
import TestSupport
import Testing

/// What `packhorse device` says about work that has failed, and about what a catalog lacks.
@Suite(.timeLimit(.minutes(15)))
struct DeviceFailedWorkTests {
    private let shop: Shop
    private let device: DeviceProgram

    init() throws {
        shop = try Shop()
        device = DeviceProgram(shop)
    }

    private func add(_ name: String, _ source: String...) async throws -> DeviceProgram.Outcome {
        try await device.run(["region", "add", name, "--box", "-10,45,-8,47", "--zoom", "0-6"] + source)
    }

    @Test func aRegionThatFailedIsNamedByUpdateAndStatus() async throws {
        try shop.publish("EE", 1)
        #expect(try await device.run("install", "EE", "--catalog", try shop.address()).status == 0)
        let server = try ScriptedServer { _ in .reply(403) }
        defer { server.stop() }
        let failed = try await add("trip", "--tiles", "\(server.url)/{z}/{x}/{y}.png")
        #expect(failed.status == 77, "\(failed)")
        let status = try await device.run("status")
        #expect(status.status == 0 && status.output.contains("region trip"), "\(status)")
        let update = try await device.run("update")
        #expect(update.status == failed.status && !update.errors.contains("up to date"), "\(update)")
        for said in [status.errors, update.errors] {
            #expect(said.contains("load region trip failed: the server refuses it"), "\(said)")
            #expect(said.contains("packhorse device retry"), "\(said)")
        }
        // An update of one map says nothing about a region.
        #expect(try await device.run("update", "EE").status == 0)
    }

    @Test func whatTheCatalogLacksIsNamedWithWhatItHas() async throws {
        let list = try shop.publishCut("EE", 1)
        let address = try shop.address()
        let wrong = try await add("trip", "--tileset", "\(list.tileset)x", "--catalog", address)
        #expect(wrong.status == 66, "\(wrong)")
        for text in [address, "the tileset '\(list.tileset)x'", "did you mean '\(list.tileset)'?"] {
            #expect(wrong.errors.contains(text), "\(text): \(wrong.errors)")
        }
        #expect(wrong.errors.ranges(of: "does not have").count == 1, "\(wrong.errors)")
        // What was refused is not there, and the corrected command works.
        #expect(try await device.run("region", "show", "trip").status == 66)
        let right = try await add("trip", "--tileset", list.tileset, "--catalog", address)
        #expect(right.status == 0, "\(right.errors)")
        let other = try await add("trip", "--replace", "--tileset", "nope")
        #expect(other.status == 66 && other.errors.contains("it has \(list.tileset)"), "\(other.errors)")
        #expect(try await device.run("region", "load", "trip").status == 0)
        let package = try await device.run("install", "EX", "--catalog", address)
        #expect(package.status == 66 && package.errors.contains("did you mean 'EE'?"), "\(package.errors)")
        let far = try await device.run(
            "region", "add", "far", "--box", "100,-45,101,-44", "--zoom", "0-6", "--tileset", list.tileset)
        #expect(far.status == 66 && far.errors.contains("in this area"), "\(far.errors)")
    }

    @Test func oneRegionThatCannotBeUpdatedDoesNotStopTheOthers() async throws {
        let list = try shop.publishCut("EE", 1)
        let address = try shop.address()
        #expect(try await add("trip", "--tileset", list.tileset, "--catalog", address).status == 0)
        #expect(
            try await device.run(
                "region", "add", "lost", "--only", "--box", "-10,45,-8,47", "--zoom", "0-6", "--tileset", "gone"
            ).status == 0)
        #expect(try await device.run("region", "load", "lost").status == 66)
        #expect(try await device.run("install", "EE", "--catalog", address).status == 0)
        _ = try shop.publishCut("EE", 2)
        let update = try await device.run("update")
        #expect(update.status == 66 && update.errors.contains("region lost"), "\(update)")
        #expect(update.output.contains("update EE: done"), "\(update)")
    }
}
