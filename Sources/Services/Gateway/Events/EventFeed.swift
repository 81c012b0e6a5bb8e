internal import NIOCore
internal import Wire

/// The newest events of the log, which all streams share: one question for all of them.
///
/// It runs while a stream waits. A stream that is behind it, or wants the events of one job, asks for itself.
actor EventFeed {
    /// The most events of one answer.
    static let limit = 500
    /// The most events that are kept.
    private static let maxKept = 4 * limit
    /// Between two questions: 1,000 events a second are ten writes a second to each stream.
    private static let pause = Duration.milliseconds(100)

    /// Asks for at most ``limit`` events after a number, and waits for the first one.
    typealias Question = @Sendable (_ after: UInt64) async throws(Problem) -> PBEvents

    private struct Waiter {
        let after: UInt64
        let continuation: CheckedContinuation<Result<EventPiece?, Problem>, Never>
    }

    private let question: Question
    private let texts: EventTexts
    /// Events with numbers over `start` to `last`, all that the log has there.
    private var kept: [(seq: UInt64, text: String)] = []
    private var start: UInt64 = 0
    private var last: UInt64 = 0
    /// What the first stream that was woken got.
    private var newest: (after: UInt64, piece: EventPiece)?
    private var waiting: [Waiter] = []
    private var isRunning = false
    private var isOpen = true
    private let starts = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(texts: EventTexts, question: @escaping Question) {
        self.texts = texts
        self.question = question
    }

    /// How many streams wait.
    var waiterCount: Int { waiting.count }

    /// Events after a number, as soon as there are some; an empty piece after a time without.
    ///
    /// - Returns: `nil` = the stream asks for itself.
    /// - Parameter after: At most `Int.max`, close to the end of the log: the feed begins there when no other stream waits.
    /// - Throws: ``Problem`` of the question.
    func next(after: UInt64) async throws(Problem) -> EventPiece? {
        guard isOpen else { return nil }
        if !isRunning, after > last { forget(to: after) }
        guard after >= start else { return nil }
        if after < last { return piece(after) }
        let result = await withCheckedContinuation { continuation in
            waiting.append(Waiter(after: after, continuation: continuation))
            starts.continuation.yield()
        }
        return try result.get()
    }

    /// Asks while streams wait, until the task is cancelled.
    func run() async {
        for await _ in starts.stream {
            isRunning = true
            while !waiting.isEmpty, !Task.isCancelled {
                let isFull = await turn()
                // A cancelled sleep ends the loop.
                if !isFull { try? await Task.sleep(for: Self.pause) }
            }
            isRunning = false
            forget(to: last)
        }
        isOpen = false
        wake { _ in .success(nil) }
    }

    /// Asks once and wakes all that wait.
    ///
    /// - Returns: Whether the coordinator has more events at once.
    private func turn() async -> Bool {
        do throws(Problem) {
            let answer = try await question(last)
            take(answer)
            wake { .success($0.after < self.start ? nil : self.piece($0.after)) }
            return last < answer.last
        } catch {
            // The coordinator may come back with an older log.
            forget(to: last)
            wake { _ in .failure(error) }
            return false
        }
    }

    private func take(_ answer: PBEvents) {
        let isOther = answer.last < last || answer.first > last + 1
        if isOther { forget(to: answer.first > last + 1 ? answer.first - 1 : answer.last) }
        for event in answer.events where event.seq > last {
            kept.append((event.seq, texts.text(of: event)))
            last = event.seq
        }
        if kept.count > Self.maxKept {
            let removed = kept.count - Self.maxKept
            start = kept[removed - 1].seq
            kept.removeFirst(removed)
        }
        newest = nil
    }

    private func forget(to number: UInt64) { (kept, start, last, newest) = ([], number, number, nil) }

    private func wake(_ result: (Waiter) -> Result<EventPiece?, Problem>) {
        let woken = waiting
        waiting = []
        for waiter in woken { waiter.continuation.resume(returning: result(waiter)) }
    }

    /// The kept events after a number, ``limit`` at most.
    private func piece(_ after: UInt64) -> EventPiece {
        // Nearly all streams have got everything before.
        if let newest, newest.after == after { return newest.piece }
        let index = kept.firstIndex { $0.seq > after } ?? kept.endIndex
        let events = kept[index...].prefix(Self.limit)
        let piece = EventPiece(
            text: ByteBuffer(string: events.map(\.text).joined()), last: events.last?.seq ?? after)
        if newest == nil { newest = (after, piece) }
        return piece
    }
}
