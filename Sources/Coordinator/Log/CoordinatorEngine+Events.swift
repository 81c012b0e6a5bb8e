import Errors
import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

/// A question about events that waits for the next one.
struct EventWait: Sendable {
    let asker: Asker
    let question: PBGetEvents
    let until: Tick
}

extension CoordinatorEngine {
    /// Most lines in one answer.
    private static let mostEvents: UInt32 = 5_000
    /// Furthest place from the end that a question may begin at: what it costs to find it.
    private static let mostNewest: UInt32 = 100_000
    /// Most questions that wait at once; more are answered at once, empty.
    private static let mostEventWaits = 64
    /// Longest wait.
    ///
    /// Milliseconds.
    private static let longestEventWait: UInt32 = 30_000

    /// Answers with the lines there are, or waits for the next one.
    func events(_ question: PBGetEvents, _ asker: Asker) async {
        let wait = Int64(min(question.waitMs, Self.longestEventWait))
        if wait > 0, eventWaits.count < Self.mostEventWaits, await !hasEvents(question) {
            eventWaits.append(EventWait(asker: asker, question: question, until: now + wait))
        } else {
            await tellEvents(question, asker)
        }
    }

    /// Looks again after a turn that wrote something, and ends waits that are over.
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
            // A submission's line may be large: an answer takes what fits a frame, and the asker asks on.
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

    /// Copies the state file while everything goes on.
    func backUp(_ body: PBBackup, _ asker: Asker) async {
        let start = clock.now
        do {
            let file = try await store.backUp(
                named: body.name, into: options.data.appending(path: "backups"), wall: wall)
            let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            logger.notice("state backed up", metadata: [LogKey.path: "\(file.path)"])
            reply(
                .backedUp(
                    .make {
                        $0.path = file.path
                        $0.bytes = UInt64(clamping: bytes)
                        $0.elapsedMs = UInt64(clamping: (clock.now - start).components.seconds * 1_000)
                    }), to: asker)
        } catch let error as CoordinatorError {
            reply(WireConversions.problem("\(error.code)", error.message), to: asker)
        } catch {
            reply(
                WireConversions.problem("backup-failed", "The state cannot be backed up: \(error)", retriable: true),
                to: asker)
        }
    }
}

extension PBEventRecord {
    /// The line for people only, when the change itself does not fit a message.
    fileprivate var withoutData: PBEventRecord {
        var copy = self
        copy.data = Data()
        return copy
    }
}
