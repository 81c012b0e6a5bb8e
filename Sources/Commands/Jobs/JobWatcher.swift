import Foundation
import Wire

/// Follows a job to its end and reports it.
struct JobWatcher {
    let client: ControlClient
    let style: ProgressStyle
    private let clock = ContinuousClock()

    init(client: ControlClient, style: ProgressStyle) {
        self.client = client
        self.style = style
    }

    /// Does what ``follow(_:)`` does; Ctrl-C ends the watching and says that the job goes on.
    func finish(_ number: UInt64) async throws {
        let watcher = self
        do {
            try await Interruptible.run { try await watcher.follow(number) }
        } catch let error as CLIError where error.status == .interrupted {
            throw CLIError(
                .interrupted, "stopped watching; job \(number) goes on",
                hint: "packhorse watch \(number), or packhorse cancel \(number)")
        }
    }

    /// Shows progress until the job has ended, prints its report, and throws the exit code it deserves.
    ///
    /// A coordinator that restarts meanwhile is waited for: the job is in its store.
    private func follow(_ number: UInt64) async throws {
        let start = clock.now
        var meter = RateMeter()
        var view = try await ask(number)
        var nextLine = 0.0
        var gap = 1.0
        var stall = StallNotice()
        while !view.isOver {
            let elapsed = (clock.now - start).seconds
            meter.add(done: view.settled, at: elapsed)
            if style.progress != .none, view.waiting == nil, stall.isDue(view, at: elapsed) {
                for line in StallNotice.lines(try await client.workers()) { Console.note(line) }
            }
            if style.progress == .bar {
                Console.redraw(ProgressLine.bar(view, meter))
            } else if elapsed >= nextLine {
                try show(view, meter)
                nextLine = elapsed + gap
                gap = min(gap * 1.5, 30)
            }
            try await Task.sleep(for: .milliseconds(250))
            view = try await ask(number)
        }
        if style.progress == .bar { Console.redraw("") }
        try report(view)
    }

    private func ask(_ number: UInt64) async throws -> JobView {
        var waited = 0
        while true {
            do {
                return JobView(try await client.job(number, failures: 100))
            } catch let error as CLIError where [.unavailable, .temporary].contains(error.status) && waited < 60 {
                let what = error.status == .unavailable ? "the coordinator does not answer" : error.message
                if waited == 0 { Console.note("\(what); waiting for it to come back") }
                waited += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func show(_ view: JobView, _ meter: RateMeter) throws {
        switch style.progress {
        case .plain: Console.note(ProgressLine.plain(view, meter))
        case .json: Console.note(try JSONText.line(view))
        default: break
        }
    }

    private func report(_ view: JobView) throws {
        if style.jsonResult {
            Console.result(try JSONText.pretty(view))
        } else {
            JobReport.lines(view).forEach(Console.result)
        }
        switch JobReport.status(view) {
        case .success: return
        case let status:
            throw CLIError(
                status, "job \(view.job) \(view.state)" + (view.reason.map { ": \($0)" } ?? ""),
                hint: view.failures.isEmpty ? nil : "packhorse status \(view.job) lists the tiles that failed and why")
        }
    }
}

extension Duration {
    /// The duration as a number of seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
