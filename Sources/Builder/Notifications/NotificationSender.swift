import Foundation
import Synchronization
internal import TextFormats
internal import Transfer

/// Sends requests to one receiver, on a connection and a thread of its own.
final class NotificationSender: Sendable {
    private let receiver: NotificationReceiver
    private let client: TransferClient

    /// - Throws: `TransferError` `library-failed`.
    init(_ receiver: NotificationReceiver) throws {
        self.receiver = receiver
        var options = TransferOptions()
        options.concurrency = 1
        options.userAgent = ProgramVersion.userAgent
        options.connectTimeout = Self.timeLimit
        options.totalTimeout = Self.timeLimit
        options.stallTimeout = Self.timeLimit
        // ``Delivery`` decides about further requests.
        options.retry.maxAttempts = 1
        client = try TransferClient(options)
    }

    private static let timeLimit: Duration = .seconds(10)

    /// Sends one request and waits for its end, at most ten seconds.
    ///
    /// A redirect of a POST is not followed; it counts as an answer.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func send(_ notification: EventNotification, now: Int64) async -> Delivery.Event {
        let body: [UInt8]
        do { body = try notification.json() } catch { return .unanswered("it cannot be written as JSON: \(error)") }
        let timestamp = now / 1_000
        var request = TransferRequest(tag: 0, url: receiver.url)
        request.method = .post
        request.upload = .bytes(body)
        request.headers = [
            HeaderField("Content-Type", "application/json"), HeaderField("Packhorse-Event", notification.kind),
            HeaderField("Packhorse-Delivery", notification.id), HeaderField("Packhorse-Timestamp", "\(timestamp)"),
        ]
        if let secret = receiver.secret {
            let signature = NotificationSignature.text(body, timestamp: timestamp, secret: secret)
            request.headers.append(HeaderField("Packhorse-Signature", signature))
        }
        if let authorization = receiver.authorization { request.headers.append(authorization) }
        let answer = AnswerReceiver()
        request.receiver = answer
        do {
            let response = try await client.send(request)
            return Self.event(response.status, response.headers, now: now)
        } catch {
            // A long or slow body does not change the meaning of the status.
            guard let (status, headers) = answer.head else { return .unanswered(error.message) }
            return Self.event(status, headers, now: now)
        }
    }

    private static func event(_ status: Int, _ headers: ResponseHeaders, now: Int64) -> Delivery.Event {
        let wait = RetryPolicy.retryAfter(headers.retryAfter, serverDate: headers.date, now: now / 1_000)
        return .answered(status: status, retryAfter: wait.map { $0.components.seconds * 1_000 })
    }

    /// Ends a running request and the thread.
    func close() { client.close() }
}

/// Keeps the status of an answer and forgets its body.
private final class AnswerReceiver: TransferReceiver {
    private struct State {
        var head: (status: Int, headers: ResponseHeaders)?
        var bytes = 0
    }
    private let state = Mutex(State())
    /// A longer body ends the transfer.
    private static let maxBytes = 64 << 10

    var head: (status: Int, headers: ResponseHeaders)? { state.withLock { $0.head } }

    func begin(status: Int, headers: ResponseHeaders) -> Bool {
        state.withLock { $0.head = (status, headers) }
        return true
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.bytes += bytes.count
            return state.bytes <= Self.maxBytes
        }
    }
}
