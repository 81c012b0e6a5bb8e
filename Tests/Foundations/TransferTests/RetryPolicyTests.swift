import Testing
import TextFormats
import Transfer

/// A generator that always gives the same number.
private struct Constant: RandomNumberGenerator {
    let value: UInt64
    func next() -> UInt64 { value }
}

struct RetryPolicyTests {
    @Test func theLastAttemptIsNotFollowedByAnother() {
        var generator = SystemRandomNumberGenerator()
        let policy = RetryPolicy()
        #expect(policy.wait(afterAttempt: 4, using: &generator) != nil)
        #expect(policy.wait(afterAttempt: 5, using: &generator) == nil)
    }

    @Test func jitterIsFullDoublesAndIsCapped() {
        var policy = RetryPolicy()
        policy.maxAttempts = 100
        var highest = Constant(value: .max)
        var lowest = Constant(value: 0)
        for (attempt, seconds) in [(1, 0.25), (2, 0.5), (3, 1.0), (4, 2.0), (8, 30.0), (99, 30.0)] {
            let top = policy.wait(afterAttempt: attempt, using: &highest) ?? .zero
            #expect(abs(top / .seconds(1) - seconds) < 0.001)
            #expect(policy.wait(afterAttempt: attempt, using: &lowest) == .zero)
        }
    }

    @Test func retryAfterIsALowerBoundAndCapped() throws {
        var generator = Constant(value: 0)
        let policy = RetryPolicy()
        #expect(policy.wait(afterAttempt: 1, retryAfter: .seconds(7), using: &generator) == .seconds(7))
        #expect(policy.wait(afterAttempt: 1, retryAfter: .seconds(86_400), using: &generator) == .seconds(120))
    }

    @Test(arguments: [200, 204, 304, 400, 401, 403, 404, 410, 501, 505])
    func otherStatusesAreFinal(status: Int) {
        #expect(!RetryPolicy.isRetriable(status: status))
    }

    @Test func retryAfterIsReadAsSecondsOrDate() {
        let now: Int64 = 784_111_777
        #expect(RetryPolicy.retryAfter("12", serverDate: nil, now: now) == .seconds(12))
        #expect(RetryPolicy.retryAfter("Sun, 06 Nov 1994 08:49:47 GMT", serverDate: nil, now: now) == .seconds(10))
        #expect(RetryPolicy.retryAfter("Sun, 06 Nov 1994 08:49:00 GMT", serverDate: nil, now: now) == .zero)
        // The server's clock is an hour ahead of ours; its own Date says what it means.
        let server = "Sun, 06 Nov 1994 09:49:37 GMT"
        #expect(RetryPolicy.retryAfter("Sun, 06 Nov 1994 09:49:42 GMT", serverDate: server, now: now) == .seconds(5))
        #expect(RetryPolicy.retryAfter("soon", serverDate: nil, now: now) == nil)
        #expect(RetryPolicy.retryAfter("-5", serverDate: nil, now: now) == nil)
        #expect(RetryPolicy.retryAfter("99999999999999999999999", serverDate: nil, now: now) != nil)
        #expect(RetryPolicy.retryAfter(nil, serverDate: nil, now: now) == nil)
    }

    /// The three forms of RFC 9110, section 5.6.7.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func datesAreReadInAllThreeForms(text: String) {
        #expect(HTTPDate.secondsSince1970(text) == 784_111_777)
    }

    @Test(arguments: [
        "", "GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "a b c d e f g",
    ])
    func otherDatesAreNotGuessed(text: String) {
        #expect(HTTPDate.secondsSince1970(text) == nil)
    }
}
