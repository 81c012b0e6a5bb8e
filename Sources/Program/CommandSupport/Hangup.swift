import Foundation
package import Logging
import ServiceLifecycle
internal import Synchronization
import Telemetry
import UnixSignals

/// A part of a service that SIGHUP reads again.
package struct ReloadStep: Sendable {
    let part: String
    let reload: @Sendable () async throws -> String

    /// - Parameters:
    ///   - part: What is read again, for the log: `keys`.
    ///   - reload: Reads it, and returns the values that are used now, in a few words; when it throws, the former values
    ///     stay in use.
    package init(_ part: String, _ reload: @escaping @Sendable () async throws -> String) {
        self.part = part
        self.reload = reload
    }
}

/// SIGHUP: a request to read settings again, or the end of the terminal.
package enum Hangup {
    /// Whether SIGHUP came before the service handled signals.
    private static let cameEarly = Atomic(false)

    /// Notes SIGHUP until the service handles it: a reload during the start must neither end the process nor be lost.
    package static func prepare() {
        // Before the handler is set: a handler must not make it.
        cameEarly.store(false, ordering: .relaxed)
        signal(SIGHUP) { _ in Hangup.cameEarly.store(true, ordering: .relaxed) }
    }

    /// Whether SIGHUP came since ``prepare()`` and before the signals that the caller now handles; `false` the next time.
    package static func takeEarly() -> Bool { cameEarly.exchange(false, ordering: .relaxed) }

    /// Whether this process has a terminal; a closed terminal does not count.
    package static var hasTerminal: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Reads everything again, one after the other, and logs what was done.
    package static func reload(_ steps: [ReloadStep], _ logger: Logger) async {
        ServiceManager.shared.reloading()
        if steps.isEmpty { logger.notice("SIGHUP: this process has nothing that can be read again") }
        for step in steps {
            do {
                let result = try await step.reload()
                logger.notice("Read again", metadata: [LogKey.part: "\(step.part)", LogKey.result: "\(result)"])
            } catch {
                logger.error(
                    "Cannot be read again; the former values stay",
                    metadata: [LogKey.part: "\(step.part)", LogKey.errorMessage: "\(error)"])
            }
        }
        ServiceManager.shared.ready("settings read again")
    }
}

/// Reloads for each SIGHUP while the other services run; ends them when the terminal was closed.
struct HangupService: Service {
    let steps: [ReloadStep]
    let logger: Logger

    func run() async throws {
        let hadTerminal = Hangup.hasTerminal
        let signals = await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown()
        // What was read at the start may be older than the signal.
        if Hangup.takeEarly() { await Hangup.reload(steps, logger) }
        for await _ in signals {
            if hadTerminal, !Hangup.hasTerminal {
                logger.notice("The terminal was closed; the process ends")
                kill(getpid(), SIGTERM)
            } else {
                await Hangup.reload(steps, logger)
            }
        }
        ServiceManager.shared.stopping()
    }
}
