internal import CommandSupport
import Errors
import Foundation
import Logging
import Telemetry
import UnixSignals

/// One run of `packhorse up`, from its start to the signal that ends it.
struct UpRun {
    let plan: UpPlan
    private let token: String?
    /// Held for the workers' endpoint.
    private let sockets: SocketFolder
    private let processes: LocalProcesses
    private let logger: Logger

    /// Starts nothing.
    ///
    /// - Parameter lock: Held by the processes as their standard output, so that the next run starts when the last of
    ///   them has ended.
    /// - Throws: ``CLIError`` 73 when the folder of the sockets cannot be created.
    init(_ plan: UpPlan, isJSON: Bool, logger: Logger, lock: FileHandle) throws {
        self.plan = plan
        self.logger = logger
        sockets = try SocketFolder(plan.sockets)
        let token = plan.gatewayPort == nil ? nil : try OperatorToken(folder: plan.tokens).create()
        self.token = token
        let stages = plan.stages(work: sockets.endpoint("work"))
        let log = UpLog(isJSON: isJSON, width: stages.joined().map(\.name.count).max() ?? 0)
        processes = try LocalProcesses(
            stages, restart: .each, output: lock, hint: { _ in "see its lines above" },
            reports: LocalProcesses.Reports(
                line: { line, name in log.write(line, of: name) },
                restart: { name, end, wait in
                    logger.warning(
                        "Process ended and is started again",
                        metadata: [
                            LogKey.process: "\(name)", LogKey.reason: "\(end.message)",
                            LogKey.waitSeconds: "\(wait.components.seconds)",
                        ])
                },
                isUp: { Self.tellUp(plan, token: token, logger) }))
    }

    /// Runs the processes until a signal asks for the end.
    ///
    /// - Throws: The error of a process that ended before everything was up; ``CLIError`` 130 after a second signal.
    func run() async throws {
        let hadTerminal = Hangup.hasTerminal
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let reloads = Configuration.reloadSteps + [Self.reload(processes)]
        let watch = Task { [processes] in
            if Hangup.takeEarly() { await Hangup.reload(reloads, logger) }
            for await signal in signals {
                if signal != .sighup || hadTerminal && !Hangup.hasTerminal {
                    ServiceManager.shared.stopping()
                    processes.stop()
                } else {
                    await Hangup.reload(reloads, logger)
                }
            }
        }
        let pulse = Task { [processes] in await Self.pulse(processes) }
        defer {
            watch.cancel()
            pulse.cancel()
            if token != nil { OperatorToken(folder: plan.tokens).remove() }
        }
        guard try await processes.run() else {
            throw CLIError(.interrupted, "interrupted; all processes were ended at once")
        }
    }

    /// Each process reads its own settings again.
    private static func reload(_ processes: LocalProcesses) -> ReloadStep {
        ReloadStep("processes") { "passed on to \(await processes.reload().joined(separator: ", "))" }
    }

    /// Sends signs of life to the service manager as long as the processes are watched.
    private static func pulse(_ processes: LocalProcesses) async {
        guard let interval = ServiceManager.shared.pulseInterval else { return }
        while !Task.isCancelled {
            // The processes answer only when nothing holds them up.
            _ = await processes.trouble
            ServiceManager.shared.pulse()
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: interval / 2)
        }
    }

    private static func tellUp(_ plan: UpPlan, token: String?, _ logger: Logger) {
        if let page = plan.page, let token {
            Console.result("page         \(page)#token=\(token)")
            Console.result("token        \(token)")
        }
        Console.result("coordinator  \(plan.control)")
        for port in plan.metricsPorts { Console.result("metrics      http://127.0.0.1:\(port)/metrics") }
        ServiceManager.shared.ready("all processes run")
        logger.notice("All processes run; Ctrl-C ends them in order", metadata: [LogKey.path: "\(plan.data.path)"])
    }
}
