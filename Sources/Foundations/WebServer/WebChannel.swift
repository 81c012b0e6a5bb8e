internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// Runs connections; a cancelled one is closed at once.
struct WebChannel: ServerChildChannel {
    let base: HTTP1Channel
    /// Whether each connection runs on its event loop, so that a small answer needs no change of threads.
    let isOnLoop: Bool

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
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
