import Errors
import Foundation
import Scheduling
import Wire

extension ControlHandlers {
    /// Answers with the existing events, or waits for the next one.
    func readEvents(_ question: PBGetEvents, _ replyAddress: ReplyAddress) {
        if let read = subscriptions.add(question, replyAddress, now: environment.now) {
            startReading(read)
        } else {
            state.tick.tasks.append(
                .run(.queries) { [log = environment.notifications] in
                    .answer(replyAddress, await Self.events(question, log).answer)
                })
        }
    }

    /// Handles the commit of changes of these jobs: the requests that wait for them are read again.
    func committed(_ jobs: Set<JobID>) { subscriptions.committed(jobs).forEach(startReading) }

    /// Ends the waits that are over.
    func expireSubscriptions() { subscriptions.expire(now: environment.now).forEach(startReading) }

    private func startReading(_ read: EventSubscriptions.Read) {
        state.tick.tasks.append(
            .run(.queries) { [log = environment.notifications] in
                let (answer, isEmpty) = await Self.events(read.question, log)
                return .eventsRead(read, answer, isEmpty: isEmpty)
            })
    }

    /// Handles the events that were read for a waiting request.
    func eventsRead(_ read: EventSubscriptions.Read, _ answer: Message, isEmpty: Bool) {
        let (replyAddress, again) = subscriptions.finish(read, isEmpty: isEmpty, now: environment.now)
        if let replyAddress { state.reply(answer, to: replyAddress) }
        if let again { startReading(again) }
    }

    /// Largest number of lines in one answer.
    private static let maxEvents: UInt32 = 5_000
    /// Largest distance from the end at which a request may begin.
    ///
    /// It bounds the cost of finding that line.
    private static let maxNewest: UInt32 = 100_000

    /// The answer to a request, and whether it has no line.
    private static func events(
        _ question: PBGetEvents, _ log: StateNotifications
    ) async -> (answer: Message, isEmpty: Bool) {
        let limit = question.limit == 0 ? 100 : min(question.limit, maxEvents)
        do {
            var events = try await log.store.events(
                after: question.after, newest: question.newest == 0 ? nil : Int(min(question.newest, maxNewest)),
                limit: Int(limit), job: question.job == 0 ? nil : JobID(question.job),
                areNotifications: question.notifications, catalogs: log.catalogs)
            // A submission's line may be large. An answer takes what fits a frame, and the client requests the rest.
            var bytesLeft = MessageType.events.maxBodyBytes / 2
            let fitting = events.events.prefix { event in
                bytesLeft -= event.data.count + event.notification.count + 400
                return bytesLeft > 0
            }
            if fitting.isEmpty, let first = events.events.first {
                events.events = [first.withoutData]
            } else {
                events.events = Array(fitting)
            }
            return (.events(events), events.events.isEmpty)
        } catch {
            if let damage = error as? CoordinatorError, damage.code == .damagedState {
                return (WireConversions.problem("\(damage.code)", damage.message, hint: damage.hint ?? ""), false)
            }
            let text = "The event log cannot be read: \(error)"
            return (WireConversions.problem("degraded", text, retriable: true), false)
        }
    }
}

extension PBEventRecord {
    /// The line with its text only, for a change that does not fit a message.
    fileprivate var withoutData: PBEventRecord {
        var copy = self
        copy.data = Data()
        return copy
    }
}
