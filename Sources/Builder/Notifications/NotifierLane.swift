import Foundation
import Logging
import Synchronization
internal import Telemetry

/// The delivery to one receiver: performs the effects of ``Delivery``.
final class NotifierLane: Sendable {
    let receiver: NotificationReceiver
    private let log: any NotificationLog
    private let logger: Logger
    private let sender: NotificationSender
    /// Holds at most one unread sign that the log has new lines.
    private let news: AsyncStream<Void>
    private let newsSource: AsyncStream<Void>.Continuation
    private let lastTrouble = Mutex<Delivery.Trouble?>(nil)

    /// The number of notifications in memory.
    private static let page = 100

    init(_ receiver: NotificationReceiver, log: any NotificationLog, logger: Logger) throws {
        self.receiver = receiver
        self.log = log
        self.logger = logger
        sender = try NotificationSender(receiver)
        (news, newsSource) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// The log may have new lines.
    func wake() { newsSource.yield() }

    /// Why notifications wait; `nil` when none waits for a further request.
    var trouble: Delivery.Trouble? { lastTrouble.withLock { $0 } }

    /// Delivers until it is cancelled.
    func run(from position: UInt64) async {
        var delivery = Delivery(position: position)
        var event = Delivery.Event.woken
        var signs = news.makeAsyncIterator()
        while !Task.isCancelled {
            let effects = delivery.handle(event, now: Self.now)
            lastTrouble.withLock { $0 = delivery.trouble }
            for effect in effects {
                switch effect {
                case .save(let position): await save(position)
                case .report(let report): logger.log(report, of: receiver)
                case .read(let position): event = await read(after: position)
                case .send(let notification): event = await sender.send(notification.content, now: Self.now)
                case .pause(let milliseconds):
                    // A cancelled sleep returns at once; the loop ends then.
                    try? await Task.sleep(for: .milliseconds(milliseconds))
                    event = .woken
                case .wait:
                    _ = await signs.next()
                    event = .woken
                }
            }
        }
        sender.close()
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private func save(_ position: UInt64) async {
        do {
            try await log.save(position, of: receiver.id)
        } catch  where !Task.isCancelled {
            // Until a later position is saved, a restart would repeat what was answered; the receiver knows its id.
            logger.warning("Position of notifications not saved", metadata: metadata(error))
        } catch {
            // The coordinator ends and has closed its state file; the next start repeats this notification.
        }
    }

    private func read(after position: UInt64) async -> Delivery.Event {
        do {
            return .read(try await log.notifications(after: position, kinds: receiver.kinds, limit: Self.page))
        } catch  where !Task.isCancelled {
            logger.warning("Notifications not readable; the log is read again", metadata: metadata(error))
            return .unreadable
        } catch {
            return .unreadable
        }
    }

    private func metadata(_ error: any Error) -> Logger.Metadata {
        [LogKey.receiver: "\(receiver)", LogKey.errorMessage: "\(error)"]
    }
}
