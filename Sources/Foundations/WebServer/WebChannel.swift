internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Synchronization

/// Runs connections; a cancelled one is closed at once.
final class WebChannel: ServerChildChannel {
    private let base: HTTP1Channel
    /// Whether each connection runs on its event loop, so that a small answer needs no change of threads.
    private let isOnLoop: Bool
    /// Connections whose setup has begun and that do not run yet.
    private let unseen = Atomic<Int>(0)

    init(base: HTTP1Channel, isOnLoop: Bool) {
        self.base = base
        self.isOnLoop = isOnLoop
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        unseen.add(1, ordering: .releasing)
        let value = base.setup(channel: channel, logger: logger)
        value.whenFailure { _ in self.unseen.subtract(1, ordering: .releasing) }
        return value
    }

    /// Waits, at most a second, until each connection that was taken runs; NIO ends the process over one that never does.
    func waitUntilSeen() async {
        for _ in 0..<200 where unseen.load(ordering: .acquiring) > 0 {
            // A cancelled sleep ends the wait.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        unseen.subtract(1, ordering: .releasing)
        await withTaskCancellationHandler {
            await withTaskExecutorPreference(isOnLoop ? LoopExecutor(loop: value.channel.eventLoop) : nil) {
                await base.handle(value: value, logger: logger)
            }
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Runs tasks on an event loop.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
