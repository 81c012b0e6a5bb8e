import Foundation
import Testing

@testable import Notifications

/// The rules of one receiver, without a clock and a network.
struct DeliveryTests {
    private static let start: Int64 = 1_764_000_000_000

    private func notification(_ seq: UInt64, wall: Int64 = start) -> LoggedNotification {
        LoggedNotification(
            wall: wall,
            content: EventNotification(
                id: "id\(seq)", seq: seq, kind: .jobDone, wall: wall, state: "done", text: "job \(seq) done"))
    }

    @Test func notificationsAreSentOneAfterTheOtherInTheOrderOfTheLog() {
        var delivery = Delivery(position: 4)
        let (first, second) = (notification(5), notification(9))
        #expect(delivery.handle(.woken, now: 0) == [.read(after: 4)])
        #expect(delivery.handle(.read([first, second]), now: 0) == [.send(first)])
        #expect(delivery.handle(.answered(status: 204, retryAfter: nil), now: 0) == [.save(5), .send(second)])
        #expect(delivery.handle(.answered(status: 200, retryAfter: nil), now: 0) == [.save(9), .read(after: 9)])
        #expect(delivery.handle(.read([]), now: 0) == [.wait])
        #expect(delivery.position == 9)
        #expect(delivery.trouble == nil)
    }

    @Test func theWaitDoublesFromOneSecondToFiveMinutes() {
        var delivery = Delivery(position: 0)
        let only = notification(1)
        _ = delivery.handle(.read([only]), now: Self.start)
        var waits: [Int64] = []
        for attempt in 1...12 {
            let effects = delivery.handle(.answered(status: 500, retryAfter: nil), now: Self.start)
            if attempt == 1 {
                #expect(effects.first == .report(.failing(only, why: "HTTP 500")))
            } else {
                #expect(effects.count == 1, "only the first failure is reported")
            }
            if case .pause(let wait)? = effects.last { waits.append(wait / 1_000) }
            #expect(delivery.handle(.woken, now: Self.start) == [.send(only)])
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(delivery.trouble?.failures == 12)
        #expect(
            delivery.handle(.answered(status: 200, retryAfter: nil), now: Self.start)
                == [.save(1), .report(.recovered(failures: 12)), .read(after: 1)])
        #expect(delivery.trouble == nil)
    }

    @Test func aDayOldNotificationIsDroppedAndTheReceiverIsNotAskedMoreOften() {
        var delivery = Delivery(position: 0)
        let (old, young) = (notification(1), notification(2, wall: Self.start + 1))
        _ = delivery.handle(.read([old, young]), now: Self.start)
        for _ in 1...10 { _ = delivery.handle(.unanswered("no route"), now: Self.start + 86_399_999) }
        #expect(
            delivery.handle(.unanswered("no route"), now: Self.start + 86_400_000)
                == [.save(1), .report(.dropped(old, why: "no route")), .pause(300_000)])
        #expect(delivery.handle(.woken, now: Self.start + 86_400_000) == [.send(young)])
    }

    /// What was not sent while no coordinator ran gets one request at least.
    @Test func anOldNotificationGetsOneRequest() {
        var delivery = Delivery(position: 0)
        let old = notification(1)
        #expect(delivery.handle(.read([old]), now: Self.start + 900_000_000) == [.send(old)])
        let effects = delivery.handle(.unanswered("down"), now: Self.start + 900_000_000)
        #expect(effects.contains(.report(.dropped(old, why: "down"))))
        #expect(effects.last == .pause(1_000))
        #expect(delivery.handle(.woken, now: 0) == [.read(after: 1)])
    }

    @Test(arguments: [400, 401, 403, 404, 410, 422])
    func aRefusedNotificationIsNotSentAgain(_ status: Int) {
        var delivery = Delivery(position: 0)
        let (first, second) = (notification(1), notification(2))
        _ = delivery.handle(.read([first, second]), now: Self.start)
        #expect(
            delivery.handle(.answered(status: status, retryAfter: nil), now: Self.start)
                == [.save(1), .report(.refused(first, status: status)), .send(second)])
    }

    @Test(arguments: [301, 308, 408, 425, 429, 500, 502, 503])
    func theseAnswersAreNotFinal(_ status: Int) {
        var delivery = Delivery(position: 0)
        _ = delivery.handle(.read([notification(1)]), now: Self.start)
        #expect(
            delivery.handle(.answered(status: status, retryAfter: nil), now: Self.start).last == .pause(1_000))
        #expect(delivery.position == 0)
    }

    @Test func retryAfterIsALowerBound() {
        var delivery = Delivery(position: 0)
        _ = delivery.handle(.read([notification(1)]), now: Self.start)
        #expect(delivery.handle(.answered(status: 429, retryAfter: 90_000), now: Self.start).last == .pause(90_000))
        #expect(delivery.handle(.answered(status: 429, retryAfter: 0), now: Self.start).last == .pause(2_000))
        // An absurd wait ends with the day after which the notification is dropped.
        #expect(
            delivery.handle(.answered(status: 503, retryAfter: .max), now: Self.start).last == .pause(86_400_000))
    }

    @Test func anUnreadableLogIsReadAgain() {
        var delivery = Delivery(position: 7)
        _ = delivery.handle(.woken, now: 0)
        #expect(delivery.handle(.unreadable, now: 0) == [.pause(5_000)])
        #expect(delivery.handle(.woken, now: 0) == [.read(after: 7)])
    }
}
