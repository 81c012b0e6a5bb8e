import Catalog
import CatalogFormat
import CatalogTransfer
import Errors
import Foundation
import Notifications
import Scheduling
import Synchronization
import Testing
import Wire

@testable import Coordinator

/// Steps after jobs, with a real coordinator, its state file, catalogs and a folder.
@Suite(.timeLimit(.minutes(15)))
struct StepServiceTests {
    private let fixture: Fixture
    private var staging: URL { fixture.folder.appendingPathComponent("staging") }
    private var www: URL { fixture.folder.appendingPathComponent("www") }

    init() throws { fixture = try Fixture() }

    /// What `verify` does in a test: each call takes the next answer, the last one again and again.
    private final class Verifier: Sendable {
        private let answers: Mutex<[@Sendable () async throws -> String]>
        let calls = Sequence()

        init(_ answers: [@Sendable () async throws -> String]) { self.answers = Mutex(answers) }

        func run() async throws -> String {
            _ = calls.next()
            let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            return try await answer()
        }
    }

    private static let fine: @Sendable () async throws -> String = { "fine" }
    private static let away: @Sendable () async throws -> String = {
        throw StepProblem("io", "the disk is away", status: .inputOutput)
    }
    private static let damaged: @Sendable () async throws -> String = {
        throw StepProblem("catalog-damaged", "one file")
    }

    private func options(_ verifier: Verifier = Verifier([Self.fine])) throws -> CoordinatorOptions {
        var options = fixture.options
        options.otherCatalogs = ["staging": .init(staging)]
        options.pushPlaces = PushPlaces([try PushPlace(www.path)]) { _ in throw StepProblem("no-bucket", "") }
        options.stepPauses = [0.01, 0.01]
        options.verifyCatalog = { _, _ in try await verifier.run() }
        return options
    }

    private func submission(_ then: [String], zooms: ClosedRange<UInt32> = 10...12) throws -> PBSubmit {
        var body = try Fixture.submission(zooms: zooms)
        body.publish.catalog = "staging"
        body.publish.then = then
        return body
    }

    private func working<Value: Sendable>(
        _ options: CoordinatorOptions, _ body: @escaping @Sendable (Talker) async throws -> Value
    ) async throws -> Value {
        try await fixture.withCoordinator(options) { service in
            let worker = try FakeWorker(service.workEndpoint, blobs: fixture.blobs())
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await worker.work() }
                defer { group.cancelAll() }
                return try await body(try Talker(service.controlEndpoint))
            }
        }
    }

    private func states(_ status: PBJobStatus) -> [String] { status.steps.map(\.state) }

    private func listed(_ folder: URL) throws -> [String: Int32] {
        try Catalog(folder, create: false).listedVersions(in: .main)
    }

    private func notifications(_ talker: Talker) async throws -> [EventNotification] {
        let question = PBGetEvents.make { ($0.limit, $0.notifications) = (100, true) }
        guard case .events(let events) = try await talker.ask(.getEvents(question)) else { throw Talker.Silence() }
        return try events.events.map { try EventNotification(json: $0.notification) }
    }

    @Test func allStepsRunInTheirOrder() async throws {
        let steps = ["verify", "prune=2", "promote=main", "push=\(www.path)"]
        try await working(try options()) { talker in
            let job = try await talker.submit(try submission(steps)).job
            let status = try await talker.watch(job) {
                $0.steps.allSatisfy { $0.state == "done" } && $0.state == "done"
            }
            #expect(status.steps.map(\.step) == steps)
            #expect(status.steps.map(\.result)[0] == "fine" && status.steps[2].result.hasPrefix("1 package promoted"))
            #expect(status.waiting == "" && status.steps.allSatisfy { $0.attempts == 0 && $0.endedMs > 0 })
            let question = PBGetEvents.make { ($0.limit, $0.job) = (1_000, job) }
            guard case .events(let events) = try await talker.ask(.getEvents(question)) else { throw Talker.Silence() }
            let lines = events.events.filter { $0.kind == "step" }.map(\.text)
            #expect(lines.count == 8, "\(lines)")
            #expect(lines.first == "job 1 step 1 verify running" && lines.last?.contains("step 4 push=") == true)
        }
        #expect(try listed(fixture.options.catalog) == ["P0": 1] && listed(staging) == ["P0": 1])
        // After the promotion the catalog that was promoted into is pushed.
        let index = fixture.options.catalog.appending(path: "catalog.json")
        #expect(try Data(contentsOf: www.appending(path: "catalog.json")) == Data(contentsOf: index))
        let pushed = try Data(contentsOf: www.appending(path: "packages/1/P0.mbtiles"))
        #expect(try pushed == Data(contentsOf: fixture.options.catalog.appending(path: "packages/1/P0.mbtiles")))
        // The event log gives the state, and a start finds nothing to do.
        let store = try StateStore(folder: fixture.options.data)
        let (loaded, replayed) = (try await store.load(withEnded: true), try await store.replay())
        #expect(loaded.steps.count == 4 && replayed.steps[1]?.values.sorted { $0.number < $1.number } == loaded.steps)
        await store.close()
    }

    @Test func aFailureIsTriedThreeTimesThenToldAndRetried() async throws {
        let verifier = Verifier([Self.away, Self.away, Self.away, Self.fine])
        let options = try options(verifier)
        let job = try await working(options) { talker in
            let job = try await talker.submit(try submission(["verify", "promote=main"])).job
            let failed = try await talker.watch(job) { $0.steps.first?.state == "failed" }
            #expect(failed.state == "done" && states(failed) == ["failed", "waiting"])
            #expect(failed.steps[0].attempts == 3 && failed.steps[0].cause == "io")
            #expect(failed.steps[0].exitCode == 74, "a command that waits for it ends with input/output")
            #expect(
                failed.waiting.contains("step 1 of 2, verify: failed (io); packhorse retry \(job)"), "\(failed.waiting)"
            )
            let sent = try await notifications(talker)
            #expect(sent.map(\.kind) == ["package-published", "job-done", "step-failed"])
            #expect(
                sent.last?.job == job && sent.last?.reason == "verify: io: the disk is away"
                    && sent.last?.state == "failed")
            return job
        }
        #expect(verifier.calls.next() == 4)
        // A restart does not try it again.
        try await working(options) { talker in
            let status = try await talker.watch(job) { $0.state == "done" }
            #expect(states(status) == ["failed", "waiting"] && status.steps[0].exitCode == 74)
            // No permission changes what a step does.
            let refused = PBJobOrder.make { ($0.job, $0.order, $0.publish.allowsShrink) = (job, "retry", true) }
            #expect(try await talker.problem(.jobOrder(refused)).hint.contains("--max-shrink"))
            guard
                case .ordered(let answer) = try await talker.ask(
                    .jobOrder(.make { ($0.job, $0.order) = (job, "retry") }))
            else { throw Talker.Silence() }
            #expect(answer.changed == 1 && answer.text == "job 1 continues with step 1 of 2: verify")
            let done = try await talker.watch(job) { $0.steps.last?.state == "done" }
            #expect(states(done) == ["done", "done"] && done.steps[0].attempts == 0 && done.steps[0].exitCode == 0)
            // There is nothing to retry any more.
            let nothing = try await talker.problem(.jobOrder(.make { ($0.job, $0.order) = (job, "retry") }))
            #expect(nothing.code == "job-ended")
        }
        #expect(try listed(fixture.options.catalog) == ["P0": 1])
    }

    @Test func whatWaitingCannotResolveFailsAtOnce() async throws {
        let verifier = Verifier([Self.damaged])
        try await working(try options(verifier)) { talker in
            let job = try await talker.submit(try submission(["verify", "push=\(www.path)"])).job
            let failed = try await talker.watch(job) { $0.steps.first?.state == "failed" }
            #expect(
                failed.steps[0].attempts == 1 && failed.steps[0].detail == "one file" && states(failed)[1] == "waiting")
        }
        #expect(verifier.calls.next() == 2 && !FileManager.default.fileExists(atPath: www.path))
    }

    /// A coordinator that stops in the middle of a step repeats it, and a step that is done is not repeated.
    @Test func aStepThatWasRunningIsRepeated() async throws {
        let begun = Flag()
        let verifier = Verifier([
            {
                begun.set()
                try await Task.sleep(for: .seconds(600))
                return "never"
            }, Self.fine,
        ])
        let options = try options(verifier)
        let job = try await working(options) { talker in
            let job = try await talker.submit(try submission(["promote=main", "verify", "push=\(www.path)"])).job
            // A status that was on its way when the step began shows the state before.
            let status = try await talker.watch(job) {
                begun.isSet && $0.steps.count == 3 && $0.steps[1].state == "running"
            }
            #expect(states(status) == ["done", "running", "waiting"], "\(status.waiting)")
            return job
        }
        let before = try Data(contentsOf: fixture.options.catalog.appending(path: "catalog.json"))
        try await working(options) { talker in
            let done = try await talker.watch(job) { $0.steps.last?.state == "done" }
            #expect(states(done) == ["done", "done", "done"] && done.steps.allSatisfy { $0.attempts == 0 })
        }
        #expect(try Data(contentsOf: fixture.options.catalog.appending(path: "catalog.json")) == before)
        #expect(try Data(contentsOf: www.appending(path: "catalog.json")) == before)
    }

    /// The state file of a coordinator that was killed just after its job was done: no step has a row.
    @Test func stepsWithoutRowsBegin() async throws {
        let options = try options()
        let job = try await working(options) { talker in
            let job = try await talker.submit(try submission(["promote=main"])).job
            _ = try await talker.watch(job) { $0.steps.first?.state == "done" }
            return job
        }
        let before = try Data(contentsOf: fixture.options.catalog.appending(path: "catalog.json"))
        let store = try StateStore(folder: fixture.options.data)
        try await store.perform { db in try StateStore.removeSteps(of: JobID(job), in: db) }
        await store.close()
        try await working(options) { talker in
            let done = try await talker.watch(job) { $0.steps.first?.state == "done" }
            #expect(done.steps[0].result == "catalog 'main' has these packages already")
        }
        #expect(try Data(contentsOf: fixture.options.catalog.appending(path: "catalog.json")) == before)
    }

    /// What another job has put into staging meanwhile is not promoted by this one.
    @Test func onlyTheVersionsOfTheJobArePromoted() async throws {
        let verifier = Verifier([Self.away, Self.fine])
        var changed = try options(verifier)
        changed.stepPauses = [1_000]
        let options = changed
        let (first, second) = try await working(options) { talker in
            let first = try await talker.submit(try submission(["verify", "promote=main"], zooms: 10...11)).job
            _ = try await talker.watch(first) { $0.steps.first?.attempts == 1 }
            let second = try await talker.submit(try submission([], zooms: 10...12)).job
            _ = try await talker.watch(second) { $0.state == "done" }
            return (first, second)
        }
        #expect(try listed(staging) == ["P0": 2] && second > first)
        // The pause of the options is shorter now, so that nothing waits longer than it.
        var quick = options
        quick.stepPauses = [0.01, 0.01]
        try await working(quick) { talker in
            let failed = try await talker.watch(first) { $0.steps.last?.state == "failed" }
            #expect(failed.steps[1].cause == "package-superseded" && failed.steps[1].attempts == 1)
            #expect(failed.steps[1].detail.contains("version 2 of package 'P0'"), "\(failed.steps[1].detail)")
        }
        #expect(try listed(fixture.options.catalog).isEmpty)
    }

    @Test func wrongStepsAreRefusedAtTheirSubmission() async throws {
        try await working(try options()) { talker in
            for (step, code, word) in [
                ("deploy", "bad-request", "not a step"), ("prune=0", "bad-request", "1 to 1000"),
                ("push=", "bad-request", "push=/srv/www"),
                ("promote=nowhere", "unknown-catalog", "nowhere"), ("promote=staging", "bad-request", "already"),
                ("push=/etc/packhorse-no", "bad-request", "may not push"), ("push=www", "bad-request", "absolute"),
                ("push=s3://maps/x", "bad-request", "may not push"),
            ] {
                let problem = try await talker.problem(.submit(try submission(["verify", step])))
                #expect(problem.code == code && problem.text.contains(word), "\(step): \(problem.code) \(problem.text)")
                #expect(!problem.hint.isEmpty || problem.text.contains("such as"), "\(step) has a remedy")
                let schedule = PBSchedule.make {
                    ($0.id, $0.every) = ("monthly", "monthly 3 02:30")
                    $0.submission = (try? Data(SubmitPlanner.payload(submission([step])))) ?? Data()
                }
                #expect(
                    try await talker.problem(.putSchedule(.make { $0.schedule = schedule })).code == code, "\(step)")
            }
        }
        // A folder that has a catalog in it, or is in one.
        var nested = try options()
        nested.pushPlaces = PushPlaces([try PushPlace("/")]) { _ in throw StepProblem("no-bucket", "") }
        try await working(nested) { talker in
            for place in [staging.path, staging.path + "/x", fixture.folder.path] {
                let problem = try await talker.problem(.submit(try submission(["push=\(place)"])))
                #expect(problem.text.contains("nested"), "\(problem.text)")
            }
        }
    }

    /// Jobs with different steps are different jobs.
}

/// Steps in the description of a job.
struct StepIdentityTests {
    @Test func stepsArePartOfASubmission() throws {
        func submission(_ then: [String]) throws -> PBSubmit {
            var body = try Fixture.submission(zooms: 10...12)
            body.publish.then = then
            return body
        }
        let (with, without) = (try submission(["verify"]), try submission([]))
        #expect(try SubmitPlanner.identity(with) != SubmitPlanner.identity(without))
    }
}
