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
        #expect(buckets.count <= RateBuckets.maxBuckets)
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
