import Catalog
import CatalogFormat
import Errors
import Foundation
import Testing
import Wire

@testable import Coordinator

/// Jobs that choose one of several catalogs.
@Suite(.timeLimit(.minutes(2)))
struct NamedCatalogTests {
    private func submission(_ catalog: String) throws -> PBSubmit {
        var body = try Fixture.submission()
        body.publish.catalog = catalog
        return body
    }

    @Test func aJobPublishesIntoTheCatalogThatItNames() async throws {
        let fixture = try Fixture()
        var options = fixture.options
        let staging = fixture.folder.appendingPathComponent("staging")
        options.otherCatalogs = ["staging": staging]
        try await fixture.withCoordinator(options) { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                let staged = try await talker.submit(try submission("staging")).job
                let done = try await talker.watch(staged) { $0.state == "done" }
                #expect(done.packages.map(\.path) == [staging.appendingPathComponent("packages/1/P0.mbtiles").path])
                #expect(try Catalog(fixture.options.catalog, create: false).packages().isEmpty)
                // The same packages for another catalog are another job; `main` is the catalog without a name.
                let listed = try await talker.submit(try submission("main"))
                #expect(!listed.existing && listed.job != staged)
                _ = try await talker.watch(listed.job) { $0.state == "done" }
            }
        }
        for folder in [staging, fixture.options.catalog] {
            #expect(try Catalog(folder, create: false).packages().map(\.id) == ["P0"])
        }
    }

    @Test func anUnknownNameIsRefusedWithThoseThatExist() async throws {
        let fixture = try Fixture { $0.otherCatalogs = ["staging": $0.data.appendingPathComponent("staging")] }
        try await fixture.withCoordinator { service in
            let problem = try await Talker(service.controlEndpoint).problem(.submit(try submission("stagin")))
            #expect(problem.code == "unknown-catalog" && problem.text.contains("'stagin'"))
            #expect(problem.hint.hasSuffix("main, staging"))
        }
    }

    @Test func aNameIsOneSpellingOfTheMainCatalog() throws {
        #expect(
            try SubmitPlanner.identity(try submission("main")) == SubmitPlanner.identity(try submission(""))
                && SubmitPlanner.identity(try submission("staging")) != SubmitPlanner.identity(try submission("")))
    }
}
