import Testing
import Transfer

struct RateLimiterTests {
    @Test(arguments: [0.5, 1.0, 3.0, 10.0, 100.0, 2_500.0])
    func noWindowOfOneSecondHoldsMoreThanTheLimitPlusOne(limit: Double) {
        var limiter = RateLimiter(perSecond: limit)
        var generator = SystemRandomNumberGenerator()
        let start = ContinuousClock.now
        var now = start
        var grants: [Double] = []
        while now < start + .seconds(8) {
            let wait = limiter.takePermit(at: now)
            if let wait {
                #expect(wait > .zero)
                // The caller is late by up to 3 ms, as a poll is.
                now += wait + .nanoseconds(Int64.random(in: 1...3_000_000, using: &generator))
            } else {
                grants.append((now - start) / .seconds(1))
            }
        }
        var first = 0
        for (index, time) in grants.enumerated() {
            while time - grants[first] >= 1 { first += 1 }
            #expect(Double(index - first + 1) <= limit + 1.000_001)
        }
        // And it is not much slower than asked for.
        #expect(Double(grants.count) >= limit * 8 * 0.93 - 1)
    }

    @Test func aClockThatStandsStillOrGoesBackGivesNothing() {
        var limiter = RateLimiter(perSecond: 1)
        let now = ContinuousClock.now
        #expect(limiter.takePermit(at: now) == nil)
        #expect(limiter.takePermit(at: now) != nil)
        #expect(limiter.takePermit(at: now - .seconds(100)) != nil)
        #expect(limiter.takePermit(at: now + .seconds(2)) == nil)
    }
}
