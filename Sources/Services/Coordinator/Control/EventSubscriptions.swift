import Scheduling
import Wire

/// Requests for events that wait for the next event.
///
/// The event log is read in the background. A request that waits is read again when a change that it asks for has been
/// committed, and at the end of its wait.
struct EventSubscriptions {
    /// A read of the event log for a waiting request.
    struct Read: Hashable {
        let id: UInt64
        let question: PBGetEvents
    }

    private struct Subscription {
        let replyAddress: ReplyAddress
        let question: PBGetEvents
        /// When it is answered at the latest.
        let until: Tick
        var isReading = true
        /// Whether a change was committed after the running read began.
        var hasNews = false
    }

    /// Largest number of requests that wait at the same time.
    ///
    /// Further ones get an empty answer at once.
    static let maxSubscriptions = 64
    /// Longest wait.
    ///
    /// Milliseconds.
    static let longestWait: UInt32 = 30_000

    private var subscriptions: [UInt64: Subscription] = [:]
    private var lastID: UInt64 = 0

    /// Whether no request waits.
    var isEmpty: Bool { subscriptions.isEmpty }

    /// The end of the first wait; `nil` when none waits.
    var nextEnd: Tick? { subscriptions.values.filter { !$0.isReading }.map(\.until).min() }

    /// Adds a request; `nil` when it must be answered at once.
    mutating func add(_ question: PBGetEvents, _ replyAddress: ReplyAddress, now: Tick) -> Read? {
        let wait = Int64(min(question.waitMs, Self.longestWait))
        guard wait > 0, subscriptions.count < Self.maxSubscriptions else { return nil }
        lastID += 1
        subscriptions[lastID] = Subscription(replyAddress: replyAddress, question: question, until: now + wait)
        return Read(id: lastID, question: question)
    }

    /// Handles the commit of changes of these jobs; 0 = no job.
    mutating func committed(_ jobs: Set<JobID>) -> [Read] {
        reads { $0.question.job == 0 || jobs.contains(JobID($0.question.job)) }
    }

    /// Ends the waits that are over.
    mutating func expire(now: Tick) -> [Read] { reads { $0.until <= now && !$0.isReading } }

    private mutating func reads(where isWanted: (Subscription) -> Bool) -> [Read] {
        guard !subscriptions.isEmpty else { return [] }
        var reads: [Read] = []
        for (id, subscription) in subscriptions where isWanted(subscription) {
            if subscription.isReading {
                subscriptions[id]?.hasNews = true
            } else {
                subscriptions[id]?.isReading = true
                reads.append(Read(id: id, question: subscription.question))
            }
        }
        return reads.sorted { $0.id < $1.id }
    }

    /// Handles the end of a read.
    ///
    /// - Parameter isEmpty: Whether it found no event.
    /// - Returns: The client to answer now, or the read to start again; neither when the request goes on waiting.
    mutating func finish(_ read: Read, isEmpty: Bool, now: Tick) -> (replyAddress: ReplyAddress?, again: Read?) {
        guard let subscription = subscriptions[read.id] else { return (nil, nil) }
        guard isEmpty, subscription.until > now else {
            subscriptions[read.id] = nil
            return (subscription.replyAddress, nil)
        }
        subscriptions[read.id]?.hasNews = false
        subscriptions[read.id]?.isReading = subscription.hasNews
        return (nil, subscription.hasNews ? read : nil)
    }
}
