internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Logging
import Telemetry
import UnixSignals

/// Carries out what ``Supervisor`` decides, with real processes.
struct UpRun {
    let plan: UpPlan
    private let log: UpLog
    private let logger: Logger
    /// Held by the processes as their standard output, so that the next run starts when the last of them has ended.
    private let lock: FileHandle
    private let lifeline: Lifeline
    private let sockets: SocketFolder
    private let services: [String: UpPlan.Service]
    private var supervisor: Supervisor
    private let events: AsyncStream<Supervisor.Event>
    private let send: AsyncStream<Supervisor.Event>.Continuation
    private var children: [String: ChildProcess] = [:]
    /// The errors of processes that could not be started.
    private var failures: [String: CLIError] = [:]
    private var token: String?
    private var alarm: Task<Void, Never>?
    /// Report when processes are ready.
    private var readiness: [Task<Void, Never>] = []

    /// Starts nothing.
    ///
    /// - Throws: ``CLIError`` 73 when the folder of the sockets cannot be created.
    init(_ plan: UpPlan, isJSON: Bool, logger: Logger, lock: FileHandle) throws {
        self.plan = plan
        self.logger = logger
        self.lock = lock
        lifeline = try Lifeline()
        sockets = try SocketFolder(plan.sockets)
        let stages = plan.stages(work: sockets.endpoint("work"))
        let all = Array(stages.joined())
        log = UpLog(isJSON: isJSON, width: all.map(\.name.count).max() ?? 0)
        services = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        supervisor = Supervisor(stages: stages.map { $0.map(\.name) })
        (events, send) = AsyncStream.makeStream()
    }

    /// Runs the processes until a signal asks for the end.
    ///
    /// - Throws: The error of a process that ended before everything was up; ``CLIError`` 130 after a second signal.
    mutating func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let watch = Task { [send] in
            for await _ in signals { send.yield(.stop) }
        }
        defer {
            watch.cancel()
            alarm?.cancel()
            for task in readiness { task.cancel() }
            if token != nil { OperatorToken(folder: plan.tokens).remove() }
        }
        send.yield(.begin)
        for await event in events {
            for effect in supervisor.handle(event, now: .now) {
                if case .finish(let outcome) = effect { return try finish(outcome) }
                perform(effect)
            }
            setAlarm()
        }
    }

    private func finish(_ outcome: Supervisor.Outcome) throws {
        switch outcome {
        case .stopped: return
        case .killed: throw CLIError(.interrupted, "interrupted; all processes were ended at once")
        case .failed(let name):
            throw failures[name] ?? children[name]?.end ?? CLIError(.software, "\(name) was not started")
        }
    }

    private mutating func perform(_ effect: Supervisor.Effect) {
        switch effect {
        case .start(let name, let isFirst):
            do { try start(name, isFirst: isFirst) } catch {
                failures[name] = ErrorTranslation.cliError(error) ?? CLIError(.software, "\(error)")
                send.yield(.ended(name))
            }
        case .terminate(let name): children[name]?.terminate()
        case .kill(let name): children[name]?.killNow()
        case .tellRestart(let name, let wait):
            let reason = (failures[name] ?? children[name]?.end)?.message ?? ""
            logger.warning(
                "Process ended and is started again",
                metadata: [
                    LogKey.process: "\(name)", LogKey.reason: "\(reason)",
                    LogKey.waitSeconds: "\(wait.components.seconds)",
                ])
        case .logReady: logReady()
        case .finish: break
        }
    }

    private mutating func start(_ name: String, isFirst: Bool) throws {
        guard let service = services[name] else { return }
        failures[name] = nil
        if service.kind == .gateway, isFirst { token = try OperatorToken(folder: plan.tokens).create() }
        let relayed = try RelayedLog(log, name: name)
        let address = try service.kind == .gateway ? addressPipe(name) : nil
        let child = try ChildProcess(
            name: name, arguments: service.arguments(isFirst: isFirst) + ["--until-input-ends"], log: relayed,
            lifeline: lifeline,
            output: address?.writing ?? lock,
            onEnd: { [send] in
                relayed.waitForEnd()
                send.yield(.ended(name))
            })
        address?.closeWriting()
        children[name] = child
        if isFirst { awaitReady(service, child) }
    }

    /// Receives the address that the gateway prints when it is ready.
    private func addressPipe(_ name: String) throws -> LinePipe {
        try LinePipe { [send] line in
            if line.hasPrefix("http://") { send.yield(.ready(name)) }
        }
    }

    /// Reports when a process of the first start can be used.
    private mutating func awaitReady(_ service: UpPlan.Service, _ child: ChildProcess) {
        let (send, name, id, data) = (send, service.name, child.id, plan.data)
        switch service.kind {
        case .coordinator:
            readiness.append(
                Task {
                    // The file of another coordinator has another id.
                    while EndpointsFile.read(data)?.pid != id {
                        do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
                    }
                    send.yield(.ready(name))
                })
        case .worker:
            guard name == supervisor.stages[1].last else { return }
            let (names, control) = (supervisor.stages[1], plan.control)
            readiness.append(
                Task {
                    await ConnectedWorkers.wait(for: names, at: control) { send.yield(.ready($0)) }
                })
        case .gateway: break
        }
    }

    private func logReady() {
        if let page = plan.page, let token {
            Console.result("page         \(page)#token=\(token)")
            Console.result("token        \(token)")
        }
        Console.result("coordinator  \(plan.control)")
        for port in plan.metricsPorts { Console.result("metrics      http://127.0.0.1:\(port)/metrics") }
        logger.notice("All processes run; Ctrl-C ends them in order", metadata: [LogKey.path: "\(plan.data.path)"])
    }

    /// Reports the time at which the supervisor has something to do.
    private mutating func setAlarm() {
        alarm?.cancel()
        alarm = supervisor.alarm.map { time in
            Task { [send] in
                do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
                send.yield(.alarm)
            }
        }
    }
}
