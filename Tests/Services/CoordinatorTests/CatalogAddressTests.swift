import Catalog
import CatalogFormat
import Digests
import Files
import Foundation
import Logging
import Testing
import ZeroMQ

@testable import Coordinator

/// The address that a coordinator's lists name files at.
struct CatalogAddressTests {
    let fixture: Fixture

    init() throws {
        fixture = try Fixture()
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    }

    @Test func aChangedAddressIsInTheListsWhenTheCoordinatorStarts() async throws {
        let text = Array("a package".utf8)
        let file = fixture.options.catalog.deletingLastPathComponent().appending(path: "package")
        try Data(text).write(to: file)
        _ = try Catalog(fixture.options.catalog, create: true).publish(
            PublishRequest(
                id: "EE", file: file, digest: Digest(of: text), size: UInt64(text.count), maskWire: "QAAA:14",
                names: ["en": "Estonia"], tilesHash: "D41D8CD98F00B204E9800998ECF8427E"))
        func listed() throws -> [String] {
            try Catalog(fixture.options.catalog, create: false).packages().map(\.url)
        }
        #expect(try listed() == ["http://localhost:7480/packages/1/EE.mbtiles"])
        // With another address, then without any: the lists keep the last one.
        for address in ["https://maps.example/offline", nil] {
            var options = fixture.options
            options.catalogBaseURL = address
            let service = try CoordinatorService(
                options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            #expect(try listed() == ["https://maps.example/offline/packages/1/EE.mbtiles"])
            let running = Task { try await service.run() }
            running.cancel()
            _ = await running.result
        }
        #expect(try Catalog(fixture.options.catalog, create: false).verify().isVerified)
    }

    @Test func anAddressOfThisMachineIsWarnedOfWhenClientsAreElsewhere() throws {
        var options = fixture.options
        options.controlBind = "tcp://127.0.0.1:*"
        options.workBind = "tcp://127.0.0.1:*"
        let local = "http://localhost:7480/"
        #expect(CoordinatorService.addressWarning(local, options) == nil, "all on one machine")
        options.workBind = "tcp://*:7471"
        let open = try #require(CoordinatorService.addressWarning(local, options))
        #expect(open.contains(local) && open.contains("tcp://*:7471") && open.contains("--catalog-url"))
        #expect(CoordinatorService.addressWarning("https://maps.example/", options) == nil)
        options.workBind = "tcp://127.0.0.1:*"
        options.signingKey = CatalogSecretKey()
        #expect(CoordinatorService.addressWarning(local, options)?.contains("signed") == true)
    }
}
