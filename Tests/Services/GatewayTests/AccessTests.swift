import Digests
import Files
import Testing
import WebRequests

@testable import Gateway

struct RateBookTests {
    private static let one = RateBuckets.Client.token("one")
    private static let two = RateBuckets.Client.token("two")

    @Test func aBurstThenTheRate() {
        var buckets = RateBuckets(limits: [.api: RateLimit(perSecond: 2, burst: 3)])
        for _ in 0..<3 { #expect(buckets.countRequest(Self.one, .api, now: 10) == nil) }
        #expect(buckets.countRequest(Self.one, .api, now: 10) == 0.5)
        #expect(buckets.countRequest(Self.one, .api, now: 10.25) == 0.25)
        #expect(buckets.countRequest(Self.one, .api, now: 10.5) == nil)
        #expect(buckets.countRequest(Self.one, .api, now: 10.5) == 0.5)
        // Another client, another kind without a limit, and a client without limits are not concerned.
        #expect(buckets.countRequest(Self.two, .api, now: 10.5) == nil)
        #expect(buckets.countRequest(Self.one, .files, now: 10.5) == nil)
        #expect(buckets.countRequest(Self.one, .api, factor: 0, now: 10.5) == nil)
        // A clock that goes back gives nothing, and the bucket is full again after a while.
        #expect(buckets.countRequest(Self.one, .api, now: 3) == 0.5)
        for _ in 0..<3 { #expect(buckets.countRequest(Self.one, .api, now: 100) == nil) }
        #expect(buckets.countRequest(Self.one, .api, now: 100) != nil)
    }

    @Test func aFactorChangesRateAndBurst() {
        var buckets = RateBuckets(limits: [.api: RateLimit(perSecond: 1, burst: 1)])
        for _ in 0..<4 { #expect(buckets.countRequest(Self.one, .api, factor: 4, now: 0) == nil) }
        #expect(buckets.countRequest(Self.one, .api, factor: 4, now: 0) == 0.25)
    }

    @Test func bucketsAreBoundedAndAUsedOneStays() {
        var buckets = RateBuckets(limits: [.api: RateLimit(perSecond: 0.001, burst: 1)])
        #expect(buckets.countRequest(Self.one, .api, now: 0) == nil)
        for number in 0..<200_000 {
            #expect(buckets.countRequest(.token("client \(number)"), .api, now: 1) == nil)
            if number % 1_000 == 0 { #expect(buckets.countRequest(Self.one, .api, now: 1) != nil) }
        }
        #expect(buckets.count <= RateBuckets.most)
    }
}

struct TokenBookTests {
    private static let digest = Digest(of: Array("secret".utf8))

    @Test func aFileIsRead() throws {
        let text = """
            # made for tests
            sha256:\(Self.digest)
            roles: viewer, client
            rate: 2.5
            extracts_per_day: 7   # a comment
            bytes_per_day: 1000
            tilesets: streets, terrain
            """
        let entry = try TokenEntry(file: text, name: "ops")
        #expect(entry.roles == [.viewer, .client] && entry.rate == 2.5 && entry.extractsPerDay == 7)
        #expect(entry.bytesPerDay == 1_000 && entry.tilesets == ["streets", "terrain"] && entry.name == "ops")
        let table = TokenTable([entry])
        #expect(table.find("secret") == entry && table.find("Secret") == nil && table.find("") == nil)
    }

    @Test(arguments: [
        "", "roles: viewer", "sha256:00\nroles: viewer", "sha256:\(TokenBookTests.digest)",
        "sha256:\(TokenBookTests.digest)\nroles: king", "sha256:\(TokenBookTests.digest)\nroles: viewer\nrate: -1",
        "sha256:\(TokenBookTests.digest)\nroles: viewer\nrate: nan",
        "sha256:\(TokenBookTests.digest)\nroles: viewer\nbytes_per_day: many",
        "sha256:\(TokenBookTests.digest)\nroles: viewer\ncolour: red", "nonsense",
    ]) func otherFilesAreRefused(_ text: String) {
        #expect(throws: TokenFileError.self) { try TokenEntry(file: text, name: "x") }
    }

    @Test func quotasAreOfOneDay() {
        var table = QuotaTable()
        var token = TokenEntry(name: "a", digest: Self.digest, roles: [.client])
        #expect(table.mayDownload(token, now: 0) && table.countExtract(token, now: 0))
        token.bytesPerDay = 10
        token.extractsPerDay = 2
        table.add(bytes: 10, token, now: 0)
        #expect(table.mayDownload(token, now: 86_399) == false && table.countExtract(token, now: 0))
        #expect(table.countExtract(token, now: 0) == false)
        #expect(table.mayDownload(token, now: 86_400) && table.countExtract(token, now: 86_400))
        table.add(bytes: .max, token, now: 86_400)
        table.add(bytes: .max, token, now: 86_400)
        #expect(table.mayDownload(token, now: 86_400) == false)
    }
}

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
    private static let limits = ConnectionClock.Limits(
        head: 10, body: 60, bodyRate: 1_024, bodyGrace: 5, idle: 75, reader: 60)

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

    @Test func connectionsAreCounted() throws {
        let counts = ConnectionCounts(most: 3, mostEach: 2)
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
