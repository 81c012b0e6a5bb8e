internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation

/// Processes of this machine: starts them, watches them, starts them again and ends them, as ``Supervisor`` decides.
///
/// `build`, `demo` and `up` run a cluster with it.
actor LocalProcesses {
    /// Reports to the command that runs the processes.
    struct Reports: Sendable {
        /// A line of a process's log.
        let line: @Sendable (_ line: String, _ name: String) -> Void
        /// A process has ended and is started again.
        let restart: @Sendable (_ name: String, _ end: CLIError, _ wait: Duration) -> Void
        /// All processes can be used.
        let isUp: @Sendable () -> Void
    }

    /// An event of a run of a process, by the number of its start; 0 = of none or of any.
    private typealias Message = (run: Int, event: Supervisor.Event, end: ChildProcess.End?)

    private let services: [String: LocalService]
    private let reports: Reports
    /// The hint for the end of a process that gave none.
    private let hint: @Sendable (_ name: String) -> String
    /// The standard output of the processes, which they hold open until the last of them has ended.
    private let output: FileHandle
    private let lifeline: Lifeline
    private var supervisor: Supervisor
    private let messages: AsyncStream<Message>
    private let send: AsyncStream<Message>.Continuation
    private var children: [String: (run: Int, process: ChildProcess)] = [:]
    private var starts = 0
    /// The errors with which processes ended last, or could not be started.
    private var errors: [String: CLIError] = [:]
    private var alarm: Task<Void, Never>?
    /// Report when processes are ready.
    private var readiness: [String: Task<Void, Never>] = [:]

    /// Starts nothing.
    ///
    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init(
        _ stages: [[LocalService]], restart: Supervisor.Restart, output: FileHandle,
        hint: @escaping @Sendable (String) -> String, reports: Reports
    ) throws {
        services = Dictionary(uniqueKeysWithValues: stages.joined().map { ($0.name, $0) })
        supervisor = Supervisor(stages: stages.map { $0.map(\.name) }, restart: restart)
        self.output = output
        self.hint = hint
        self.reports = reports
        lifeline = try Lifeline()
        (messages, send) = AsyncStream.makeStream()
    }

    /// Asks the processes to end in order; the second time at once.
    nonisolated func stop() { send.yield((0, .stop, nil)) }

    /// Ends the processes at once.
    ///
    /// All acknowledged data is on disk.
    nonisolated func kill() { send.yield((0, .kill, nil)) }

    /// Asks all running processes to read their settings again.
    ///
    /// - Returns: Their names.
    func reload() -> [String] {
        let running = children.filter { supervisor.isRunning($0.key) }
        for child in running.values { child.process.reload() }
        return running.keys.sorted()
    }

    /// Why a process is being started again; `nil` when all of them are up.
    var trouble: CLIError? { supervisor.phase == .running ? nil : errors.values.first }

    /// Runs the processes until they are asked to end; a cancelled task ends them at once.
    ///
    /// - Returns: Whether they ended in order.
    /// - Throws: The error of a process that is not started again.
    func run() async throws -> Bool {
        defer {
            alarm?.cancel()
            for task in readiness.values { task.cancel() }
            // After a cancellation the events of these ends are not read.
            for child in children.values { child.process.killNow() }
        }
        send.yield((0, .begin, nil))
        for await message in messages {
            guard isCurrent(message) else { continue }
            for effect in supervisor.handle(message.event, now: .now) {
                if case .finish(let outcome) = effect { return try finish(outcome) }
                perform(effect)
            }
            setAlarm()
        }
        throw CancellationError()
    }

    /// Whether the message is not about an earlier run of its process; notes the error of an end.
    private func isCurrent(_ message: Message) -> Bool {
        switch message.event {
        case .ready(let name): return message.run == 0 || children[name]?.run == message.run
        case .ended(let name, _):
            // A process that could not be started has no end.
            guard let end = message.end else { return true }
            guard let child = children[name], child.run == message.run, supervisor.isRunning(name) else { return false }
            errors[name] = child.process.error(of: end, hint: hint(name))
            return true
        case .begin, .stop, .kill, .alarm: return true
        }
    }

    private func finish(_ outcome: Supervisor.Outcome) throws -> Bool {
        switch outcome {
        case .stopped: return true
        case .killed: return false
        case .failed(let name): throw errors[name] ?? CLIError(.software, "\(name) was not started")
        }
    }

    private func perform(_ effect: Supervisor.Effect) {
        switch effect {
        case .start(let name, let isFirst):
            do { try start(name, isFirst: isFirst) } catch {
                errors[name] = ErrorTranslation.cliError(error) ?? CLIError(.software, "\(error)")
                send.yield((0, .ended(name, .forGood), nil))
            }
        case .terminate(let name): children[name]?.process.terminate()
        case .kill(let name): children[name]?.process.killNow()
        case .tellRestart(let name, let wait):
            if let error = errors[name] { reports.restart(name, error, wait) }
        case .isUp:
            errors = [:]
            reports.isUp()
        case .finish: break
        }
    }

    private func start(_ name: String, isFirst: Bool) throws {
        guard let service = services[name] else { return }
        starts += 1
        let (run, send, line) = (starts, send, reports.line)
        let log = try ChildLog { line($0, name) }
        let address = try service.readiness == .address ? Self.addressPipe(of: name, run: run, send) : nil
        let child = try ChildProcess(
            name: name, arguments: service.arguments(isFirst: isFirst) + ["--until-input-ends"], log: log,
            lifeline: lifeline, output: address?.writing ?? output
        ) { end in
            send.yield((run, .ended(name, end.forSupervisor), end))
        }
        address?.closeWriting()
        children[name] = (run, child)
        readiness[name]?.cancel()
        readiness[name] = awaitReady(service, isFirst: isFirst, run: run, id: child.id)
    }

    /// Receives the address that a process prints when it is ready.
    private static func addressPipe(
        of name: String, run: Int, _ send: AsyncStream<Message>.Continuation
    ) throws -> LinePipe {
        try LinePipe { line in
            if line.hasPrefix("http://") { send.yield((run, .ready(name), nil)) }
        }
    }

    /// Reports when a process can be used.
    private func awaitReady(_ service: LocalService, isFirst: Bool, run: Int, id: Int32) -> Task<Void, Never>? {
        let (name, send) = (service.name, send)
        switch service.readiness {
        case .atOnce: send.yield((run, .ready(name), nil))
        case .address: break
        case .endpoints(let data):
            return Task {
                // The file of another coordinator has another id.
                while EndpointsFile.read(data)?.pid != id {
                    do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
                }
                send.yield((run, .ready(name), nil))
            }
        case .connected(let control):
            // One task asks for all workers that start together.
            let stage = supervisor.stages.first { $0.contains(name) } ?? []
            guard !isFirst || name == stage.last else { break }
            let names = name == stage.last ? stage : [name]
            return Task { await ConnectedWorkers.wait(for: names, at: control) { send.yield((0, .ready($0), nil)) } }
        }
        return nil
    }

    /// Reports the time at which the supervisor has something to do.
    private func setAlarm() {
        alarm?.cancel()
        alarm = supervisor.alarm.map { time in
            Task { [send] in
                do { try await Task.sleep(until: time, clock: .continuous) } catch { return }
                send.yield((0, .alarm, nil))
            }
        }
    }
}

extension ChildProcess.End {
    fileprivate var forSupervisor: Supervisor.End {
        switch self {
        case .bySignal: .killed
        case .byItself(ExitStatus.temporary.rawValue): .temporarily
        case .byItself: .forGood
        }
    }
}
