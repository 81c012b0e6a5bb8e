import Catalog
import CatalogFormat
import Errors
import Files
import Foundation
import Notifications
import Testing
import Wire

@testable import Coordinator

/// Jobs that choose one of several catalogs.
@Suite(.timeLimit(.minutes(15)))
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
        options.otherCatalogs = ["staging": .init(staging)]
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

    /// What is told about a package is about the catalog of its job.
    @Test func notificationsHealthAndStatusNameTheCatalog() async throws {
        let fixture = try Fixture()
        var options = fixture.options
        let staging = fixture.folder.appendingPathComponent("staging")
        options.catalogBaseURL = "https://maps.example.com/main/"
        options.otherCatalogs = ["staging": .init(staging, baseURL: "https://maps.example.com/staging/")]
        try await fixture.withCoordinator(options) { service in
            let talker = try Talker(service.controlEndpoint)
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                for name in ["staging", "main"] {
                    let job = try await talker.submit(try submission(name)).job
                    #expect(try await talker.watch(job) { $0.state == "done" }.catalog == name)
                }
            }
            try await expectNames(talker)
            guard case .health(let health) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
            #expect(health.catalog == fixture.options.catalog.path)
            #expect(health.otherCatalogs.map(\.name) == ["staging"])
            #expect(health.otherCatalogs.map(\.folder) == [staging.path])
            #expect(health.otherCatalogs.map(\.url) == ["https://maps.example.com/staging/"])
        }
        // The catalog of a job is known after a restart, too.
        try await fixture.withCoordinator(options) { service in
            try await expectNames(try Talker(service.controlEndpoint))
        }
    }

    private func expectNames(_ talker: Talker) async throws {
        let question = PBGetEvents.make {
            $0.limit = 100
            $0.notifications = true
        }
        guard case .events(let events) = try await talker.ask(.getEvents(question)) else { throw Talker.Silence() }
        let told = try events.events.map { try EventNotification(json: $0.notification) }
        #expect(told.map(\.kind) == ["package-published", "job-done", "package-published", "job-done"])
        #expect(told.map(\.catalog) == ["staging", "staging", "main", "main"])
        #expect(
            told.compactMap(\.package?.url) == [
                "https://maps.example.com/staging/packages/1/P0.mbtiles",
                "https://maps.example.com/main/packages/1/P0.mbtiles",
            ])
    }

    /// A trouble is that of the catalog that has it, in its folder.
    @Test func aTroubleNamesItsCatalog() async throws {
        let fixture = try Fixture()
        var options = fixture.options
        let staging = fixture.folder.appendingPathComponent("staging")
        options.otherCatalogs = ["staging": .init(staging)]
        options.diskSpace = { DiskSpace(free: $0.path == staging.path ? 0 : 1 << 40, total: 1 << 41) }
        try await fixture.withCoordinator(options) { service in
            let talker = try Talker(service.controlEndpoint)
            var health = PBHealth()
            let deadline = ContinuousClock.now + .seconds(60)
            while health.findings.isEmpty, ContinuousClock.now < deadline {
                guard case .health(let told) = try await talker.ask(.ping(PBPing())) else { throw Talker.Silence() }
                health = told
            }
            #expect(health.findings.map(\.code) == ["catalog-full"])
            #expect(health.findings.first?.text.contains("catalog 'staging' '\(staging.path)'") == true)
        }
    }

    @Test func anUnknownNameIsRefusedWithThoseThatExist() async throws {
        let fixture = try Fixture { $0.otherCatalogs = ["staging": .init($0.data.appendingPathComponent("staging"))] }
        try await fixture.withCoordinator { service in
            let problem = try await Talker(service.controlEndpoint).problem(.submit(try submission("stagin")))
            #expect(problem.code == "unknown-catalog" && problem.text.contains("'stagin'"))
            #expect(problem.hint.hasSuffix("main, staging"))
        }
    }

    @Test func aScheduleOfACatalogThatIsGoneIsRefusedBeforeItMakesAJob() async throws {
        let fixture = try Fixture { $0.otherCatalogs = ["staging": .init($0.data.appendingPathComponent("staging"))] }
        let frame = try Frame(session: 1, seq: 0, .submit(try submission("staging"))).encoded()
        try await fixture.withCoordinator { service in
            let schedule = PBSchedule.make {
                ($0.id, $0.every, $0.submission) = ("monthly", "hourly 0", Data(frame))
            }
            guard
                case .ordered = try await Talker(service.controlEndpoint).ask(
                    .putSchedule(.make { $0.schedule = schedule }))
            else { throw Talker.Silence() }
        }
        var options = fixture.options
        options.otherCatalogs = [:]
        try await fixture.withCoordinator(options) { service in
            let problem = try await Talker(service.controlEndpoint).problem(.submit(.make { $0.schedule = "monthly" }))
            #expect(problem.code == "unknown-catalog" && problem.hint.hasSuffix("main"), "\(problem)")
        }
    }

    @Test func aNameIsOneSpellingOfTheMainCatalog() throws {
        #expect(
            try SubmitPlanner.identity(try submission("main")) == SubmitPlanner.identity(try submission(""))
                && SubmitPlanner.identity(try submission("staging")) != SubmitPlanner.identity(try submission("")))
    }
}
