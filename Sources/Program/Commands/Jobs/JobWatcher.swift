internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import Wire

/// Follows a job until it ends and reports the result.
struct JobWatcher {
    let client: ControlClient
    let style: ProgressStyle
    /// Seconds without messages about a stall at the start, because workers may have just been started.
    var quietStart = 0.0
    /// Seconds without progress after which ``follow(_:)`` stops.
    var patience = Double.infinity
    /// The folder of the work of a build on this machine; `nil` = other machines do it.
    var disk: URL?
    private let clock = ContinuousClock()

    /// Follows one job; see ``finish(_:)-([UInt64])``.
    func finish(_ number: UInt64) async throws { try await finish([number]) }

    /// Follows jobs until they end, prints their reports, and throws the exit code of the first failed one.
    ///
    /// Ctrl-C stops watching and says that the jobs continue.
    func finish(_ numbers: [UInt64]) async throws {
        let watcher = self
        var views: [PBJobStatus] = []
        for number in numbers {
            do {
                let view = try await Interruptible.run { try await watcher.follow(number) }
                views.append(view)
                if !style.jsonResult { JobReport.lines(view).forEach(Console.result) }
            } catch let error as CLIError where error.status == .interrupted {
                throw CLIError(
                    .interrupted, "stopped watching; job \(number) continues",
                    hint: "packhorse watch \(number), or packhorse cancel \(number)")
            }
        }
        if style.jsonResult {
            Console.result(try views.count == 1 ? JSONText.pretty(views[0]) : JSONText.pretty(views))
        }
        if let bad = views.first(where: { JobReport.status($0) != .success }) { throw Self.endError(bad) }
    }

    /// Shows progress until the job has ended.
    ///
    /// Waits for a coordinator that restarts meanwhile: the job is in its store.
    /// - Throws: ``CLIError`` 75 when there was no progress for `patience` seconds, with the known reason.
    func follow(_ number: UInt64) async throws -> PBJobStatus {
        let start = clock.now
        var meter = RateMeter()
        var view = try await fetchStatus(of: number)
        var nextLine = quietStart
        var gap = 1.0
        var changed = start
        var stall = StallNotice()
        while !view.isOverWithSteps {
            let elapsed = (clock.now - start).seconds
            meter.add(done: view.settled, at: elapsed)
            view.waiting = stall.waiting(view, at: elapsed)
            if style.progress != .none, view.waiting.isEmpty, stall.isDue(view, at: elapsed) {
                for line in StallNotice.lines(view, try await client.workers()) { Console.note(line) }
            }
            if stall.stands(view, at: elapsed) > patience {
                throw gaveUp(on: view, causes: StallNotice.lines(view, try await client.workers()))
            }
            if style.progress == .bar, elapsed >= quietStart {
                Console.draw(ProgressLine.bar(view, meter))
            } else if elapsed >= nextLine {
                try show(view, meter)
                nextLine = elapsed + gap
                gap = min(gap * 1.5, 30)
            }
            // The state of short jobs is requested more often, and that of a job whose state has just changed: their end should
            // not be noticed a tenth of their duration late.
            let inState = (clock.now - changed).seconds
            try await Task.sleep(for: .milliseconds(min(250, 40 + 20 * elapsed, 10 + 100 * inState)))
            let last = view.state
            view = try await fetchStatus(of: number)
            if view.state != last { changed = clock.now }
        }
        if style.progress == .bar { Console.clearBar() }
        return view
    }

    private func fetchStatus(of number: UInt64) async throws -> PBJobStatus {
        try await Patience.outlast(for: patience.isFinite ? patience : nil) {
            try await client.job(number, failures: 100)
        }
    }

    private func show(_ view: PBJobStatus, _ meter: RateMeter) throws {
        switch style.progress {
        case .plain: Console.note(ProgressLine.plain(view, meter))
        case .json: Console.noteJSON(try JSONText.line(view))
        case .auto, .bar, .none: break
        }
    }

    private func gaveUp(on view: PBJobStatus, causes: [String]) -> CLIError {
        let causes = view.waiting.isEmpty ? causes : [view.waiting]
        return CLIError(
            .temporary,
            "no tile of \(view.label) arrived for \(Units.duration(seconds: patience)); \(Units.count(view.settled)) of"
                + " \(Units.count(view.tiles)) are done",
            details: causes,
            hint:
                "\(StallNotice.remedy(causes, disk: disk)); to continue, run: \(ShellText.thisCommand(without: "--restart"))"
        )
    }

    private static func endError(_ view: PBJobStatus) -> CLIError {
        if let step = view.nextStep {
            return CLIError(
                JobReport.status(view),
                "job \(view.job) is done, but its step '\(step.step)' failed: \(step.cause): \(Sentence.inner(step.detail))",
                hint: "packhorse retry \(view.job) continues with this step")
        }
        let isTooLarge = JobReport.isAboveFileLimit(view)
        return CLIError(
            JobReport.status(view), "job \(view.job) \(view.state)" + (view.reason.isEmpty ? "" : ": \(view.reason)"),
            hint: isTooLarge
                ? "its tiles are kept: packhorse retry \(view.job) --max-file SIZE"
                : view.failures.isEmpty ? nil : "packhorse status \(view.job) lists the tiles that failed and why",
            isOfChangedSource: view.isOfChangedSource)
    }
}
