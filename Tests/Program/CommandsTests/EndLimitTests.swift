import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import CommandSupport

@Suite(.timeLimit(.minutes(15)))
struct EndLimitTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A service that ends when the test says so.
    private struct Hanging: Service {
        private let ends: AsyncStream<Void>
        let end: AsyncStream<Void>.Continuation

        init() { (ends, end) = AsyncStream.makeStream(of: Void.self) }

        func run() async throws {
            // A task of its own: not even a cancellation ends it.
            await Task { for await _ in ends { return } }.value
        }
    }

    private func group(_ services: [any Service]) -> ServiceGroup {
        ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0, successTerminationBehavior: .ignore) }, logger: logger))
    }

    @Test func theProcessEndsWhenAServiceHangs() async throws {
        let ended = Atomic(false)
        let hanging = Hanging()
        let limit = EndLimit(after: .milliseconds(100), logger: logger) { ended.store(true, ordering: .relaxed) }
        let group = group([hanging, limit])
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await Eventually.holds("the limit ends the process") { ended.load(ordering: .relaxed) }
        hanging.end.yield()
        try await running.value
    }

    @Test func itDoesNothingBeforeTheSignalAndAfterTheEnd() async throws {
        let count = Atomic(0)
        let counted: @Sendable () -> Void = { count.add(1, ordering: .relaxed) }
        let limit = EndLimit(after: .milliseconds(200), logger: logger, end: counted)
        let group = group([limit])
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await running.value
        limit.cancel()
        // One that is asked later, and not cancelled, ends after it.
        let witness = EndLimit(after: .milliseconds(400), logger: logger, end: counted)
        let other = self.group([witness])
        let second = Task { try await other.run() }
        await other.triggerGracefulShutdown()
        try await second.value
        try await Eventually.holds("the witness ends the process") { count.load(ordering: .relaxed) > 0 }
        #expect(count.load(ordering: .relaxed) == 1)
    }
}
