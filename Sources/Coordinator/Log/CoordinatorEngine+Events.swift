import Errors
import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

/// A request for events that waits for the next event.
struct EventWait: Sendable {
    let asker: Asker
    let question: PBGetEvents
    let until: Tick
}

extension CoordinatorEngine {
    /// Largest number of lines in one answer.
    private static let mostEvents: UInt32 = 5_000
    /// Largest distance from the end at which a request may begin.
    ///
    /// It bounds the cost of finding that line.
    private static let mostNewest: UInt32 = 100_000
    /// Largest number of requests that wait at the same time.
    ///
    /// Further ones get an empty answer at once.
    private static let mostEventWaits = 64
    /// Longest wait.
    ///
    /// Milliseconds.
    private static let longestEventWait: UInt32 = 30_000

    /// Answers with the existing lines, or waits for the next one.
    func events(_ question: PBGetEvents, _ asker: Asker) async {
        let wait = Int64(min(question.waitMs, Self.longestEventWait))
        if wait > 0, eventWaits.count < Self.mostEventWaits, await !hasEvents(question) {
            eventWaits.append(EventWait(asker: asker, question: question, until: now + wait))
        } else {
            await tellEvents(question, asker)
        }
    }

    /// Answers waiting requests after a tick that wrote something, and those whose wait is over.
    func tellWaiting(hasNews: Bool) async {
        guard !eventWaits.isEmpty else { return }
        let waiting = eventWaits
        eventWaits = []
        for wait in waiting {
            let isOver = wait.until <= now
            if isOver {
                await tellEvents(wait.question, wait.asker)
            } else if hasNews, await hasEvents(wait.question) {
                await tellEvents(wait.question, wait.asker)
            } else {
                eventWaits.append(wait)
            }
        }
    }

    private func hasEvents(_ question: PBGetEvents) async -> Bool {
        do {
            return try await !store.events(after: question.after, limit: 1, job: Self.job(of: question)).events.isEmpty
        } catch {
            return true
        }
    }

    private func tellEvents(_ question: PBGetEvents, _ asker: Asker) async {
        let limit = question.limit == 0 ? 100 : min(question.limit, Self.mostEvents)
        do {
            var events = try await store.events(
                after: question.after, newest: question.newest == 0 ? nil : Int(min(question.newest, Self.mostNewest)),
                limit: Int(limit),
                job: Self.job(of: question))
            // A submission's line may be large. An answer takes what fits a frame, and the client requests the rest.
            var room = MessageType.events.maxBodyBytes / 2
            let fitting = events.events.prefix { event in
                room -= event.data.count + 400
                return room > 0
            }
            if fitting.isEmpty, let first = events.events.first {
                events.events = [first.withoutData]
            } else {
                events.events = Array(fitting)
            }
            reply(.events(events), to: asker)
        } catch {
            reply(
                WireConversions.problem("degraded", "The event log cannot be read: \(error)", retriable: true),
                to: asker)
        }
    }

    private static func job(of question: PBGetEvents) -> JobID? { question.job == 0 ? nil : question.job }

    // MARK: - Backup

    /// Copies the state file outside the loop.
    func backUp(_ asker: Asker, name: String) {
        let folder = options.data.appending(path: "backups")
        let (wall, pages) = (wall, options.backupPages)
        workshop.run(on: .backups) { [store, logger] in
            let start = ContinuousClock.now
            do {
                let file = try await store.backUp(named: name, into: folder, wall: wall, pages: pages)
                let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
                logger.notice("State backed up", metadata: [LogKey.path: "\(file.path)"])
                let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
                return .answer(
                    asker,
                    .backedUp(
                        .make {
                            $0.path = file.path
                            $0.bytes = UInt64(clamping: bytes)
                            $0.elapsedMs = UInt64(elapsed.rounded())
                        }))
            } catch let error as CoordinatorError {
                return .answer(asker, WireConversions.problem("\(error.code)", error.message))
            } catch {
                let text = "The state cannot be backed up: \(error)"
                return .answer(asker, WireConversions.problem("backup-failed", text, retriable: true))
            }
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
