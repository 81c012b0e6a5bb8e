import Testing

@testable import WebServer

struct NetworkAddressTests {
    @Test func addressesAreRead() throws {
        for text in ["", "1.2.3", "1.2.3.4.5", "g::1", "localhost", "1.2.3.4/8"] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }
        let four = try #require(NetworkAddress("127.1.2.3"))
        #expect(four.isLoopback && four.network == four && four == NetworkAddress("::ffff:127.1.2.3"))
        let six = try #require(NetworkAddress("[2001:db8::1:2]"))
        #expect(
            !six.isLoopback && six.network == NetworkAddress("2001:db8::")
                && six == NetworkAddress("2001:db8::1:2%eth0"))
        #expect(NetworkAddress("::1")?.isLoopback == true && NetworkAddress("::2")?.isLoopback == false)
    }

    @Test func rangesHoldAddresses() throws {
        for (range, address, expected) in [
            ("10.0.0.0/8", "10.255.1.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true), ("2001:db8::/32", "2001:db8:1::", true), ("2001:db8::/32", "2001:db9::", false),
            ("2001:db8::/64", "2001:db8::ffff", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false),
        ] {
            let found = try #require(NetworkRange(range)).contains(try #require(NetworkAddress(address)))
            #expect(found == expected, "\(range) \(address)")
        }
        for text in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "x/8", "::/129"] { #expect(NetworkRange(text) == nil) }
    }
}

struct ConnectionClockTests {
    private static let limits = ConnectionClock.Limits()

    @Test func anIdleConnectionEnds() {
        let clock = ConnectionClock(Self.limits, now: 100)
        #expect(clock.verdict(174.9) == nil && clock.verdict(175) == .idle)
    }

    @Test func eachByteOfAHeadDoesNotRenewItsDeadline() {
        var clock = ConnectionClock(Self.limits, now: 0)
        for second in 5..<15 { clock.readHead(now: Double(second)) }
        #expect(clock.verdict(14.9) == nil && clock.verdict(15) == .slowHead)
    }

    @Test func aSlowBodyEnds() {
        var clock = ConnectionClock(Self.limits, now: 0)
        clock.readHead(now: 0)
        clock.endHead(now: 0)
        clock.readBody(2_000)
        #expect(clock.verdict(6) == nil && clock.verdict(7) == .slowBody)
        clock.readBody(1_000_000)
        #expect(clock.verdict(59) == nil && clock.verdict(60) == .slowBody)
        clock.endRequest(now: 59)
        #expect(clock.verdict(1_000) == nil)
    }

    @Test func nothingIsDueWhileAnAnswerIsMade() {
        var clock = ConnectionClock(Self.limits, now: 0)
        clock.readHead(now: 0)
        clock.endHead(now: 0)
        clock.endRequest(now: 0)
        #expect(clock.verdict(10_000) == nil && clock.isAnswering)
        // A part of the next request that came early counts from the end of the answer.
        clock.readHead(now: 1)
        #expect(clock.verdict(10_000) == nil)
        clock.endAnswer(now: 10_000)
        #expect(clock.verdict(10_009) == nil && clock.verdict(10_010) == .slowHead)
    }

    @Test func aReaderMustTakeSomething() {
        var clock = ConnectionClock(Self.limits, now: 0)
        clock.readHead(now: 0)
        clock.endHead(now: 0)
        clock.endRequest(now: 0)
        clock.wrote(1_000, now: 500)
        #expect(clock.verdict(559) == nil && clock.verdict(560) == .slowReader)
        clock.flushed(500, now: 559)
        #expect(clock.verdict(618) == nil && clock.verdict(619) == .slowReader)
        clock.flushed(500, now: 600)
        clock.endAnswer(now: 600)
        #expect(clock.verdict(674) == nil && clock.verdict(675) == .idle)
    }

    @Test func aConnectionMayHaveAnEnd() {
        var limits = Self.limits
        limits.whole = 20
        var clock = ConnectionClock(limits, now: 0)
        clock.readHead(now: 15)
        #expect(clock.verdict(19) == nil && clock.verdict(20) == .idle)
        clock.endHead(now: 16)
        clock.wrote(10, now: 16)
        // A reader that takes something again and again.
        clock.flushed(5, now: 19)
        #expect(clock.verdict(19.9) == nil && clock.verdict(20) == .slowReader)
    }

    @Test func connectionsAreCounted() throws {
        let counts = ConnectionCounts(most: 3, maxEach: 2)
        let (one, two) = (try #require(NetworkAddress("1.1.1.1")), try #require(NetworkAddress("2.2.2.2")))
        #expect(counts.open(one) && counts.open(one) && !counts.open(one))
        #expect(counts.open(two) && !counts.open(two) && !counts.open(nil))
        counts.close(one)
        #expect(counts.count == 2 && counts.open(nil) && counts.count == 3)
        counts.close(nil)
        counts.close(two)
        counts.close(one)
        #expect(counts.count == 0 && counts.open(one) && counts.open(one))
    }
}
