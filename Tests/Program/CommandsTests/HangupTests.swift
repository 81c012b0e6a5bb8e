import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CommandSupport

struct HangupTests {
    /// A real signal to this process, between the start of a service and the time when it handles signals.
    @Test(.timeLimit(.minutes(15)))
    func aSignalDuringTheStartIsNotLost() async throws {
        let count = Mutex(0)
        let step = ReloadStep("settings") {
            count.withLock { $0 += 1 }
            return "done"
        }
        Hangup.prepare()
        kill(getpid(), SIGHUP)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = Task { try await HangupService(steps: [step], logger: logger).run() }
        try await Eventually.holds("it reads again once") { count.withLock { $0 } == 1 }
        kill(getpid(), SIGHUP)
        try await Eventually.holds("it reads again for a later signal") { count.withLock { $0 } == 2 }
        service.cancel()
        try await service.value
    }
}
