import Catalog
import CatalogFormat
import Digests
import Errors
import Foundation
import Logging
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

/// A catalog whose disk is full until space is freed.
private final class FullDisk: CatalogWriter {
    let real: CatalogFolderWriter
    private let isFull = Mutex(true)

    init(_ catalog: Catalog) { real = CatalogFolderWriter(catalog: catalog) }

    func makeRoom() { isFull.withLock { $0 = false } }

    var folder: URL { real.folder }

    func publish(_ requests: [PublishRequest]) -> [Result<Published, any Error>] {
        guard isFull.withLock({ $0 }) else { return real.publish(requests) }
        return requests.map { _ in .failure(CatalogError(.diskFull, "No space is left for 'packages/1'.")) }
    }

    func held(_ id: String, _ edition: CatalogEdition) throws -> [Digest: URL] { try real.held(id, edition) }
}

@Suite(.timeLimit(.minutes(15)))
struct FullCatalogTests {
    @Test func aJobWhosePackageWaitsForRoomSaysSo() async throws {
        let fixture = try Fixture()
        let held = Mutex<FullDisk?>(nil)
        let service = try CoordinatorService(
            fixture.options, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { catalog in
            let publisher = FullDisk(catalog)
            held.withLock { $0 = publisher }
            return publisher
        }
        let publisher = try #require(held.withLock { $0 })
        let coordinator = Task { try await service.run() }
        let talker = try Talker(service.controlEndpoint)
        let job = try await talker.submit(try Fixture.submission()).job
        let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.work() }
            defer { group.cancelAll() }
            let waiting = try await talker.watch(job) { !$0.reason.isEmpty }
            #expect(waiting.state == "publishing")
            #expect(
                waiting.reason
                    == "package 'P0' waits to be published: No space is left for 'packages/1'. [disk-full]")
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            let finding = try #require(health.findings.first)
            #expect(health.state == "serving" && health.findings.count == 1)
            #expect(finding.level == "fail" && finding.code == "catalog-full")
            #expect(finding.text.contains("package 'P0' of job \(job) cannot be put into the catalog"))
            #expect(finding.text.contains(fixture.options.catalog.path) && finding.hint.contains("free space"))
            publisher.makeRoom()
            let done = try await talker.watch(job) { $0.state == "done" }
            #expect(done.reason.isEmpty)
            guard case .health(let healed) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(healed.findings.isEmpty)
        }
        coordinator.cancel()
        _ = await coordinator.result
        let entry = try #require(try Catalog(fixture.options.catalog, create: false).packages().first)
        #expect(entry.tileset == "demo" && entry.minZoom == 10 && entry.maxZoom == 12 && entry.attribution == nil)
    }
}
