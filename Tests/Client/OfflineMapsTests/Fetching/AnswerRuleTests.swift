import Foundation
import Testing

@testable import OfflineMaps

/// What answers of a server mean.
struct AnswerRuleTests {
    private let now = Date(timeIntervalSince1970: 1_763_900_000)

    @Test(arguments: [
        (404, FailureCause.notFound), (410, .notFound), (401, .notAllowed), (403, .notAllowed), (402, .limitExceeded),
        (406, .tooBig), (413, .tooBig), (429, .serverError), (500, .serverError), (503, .serverError),
        (302, .serverError), (400, .serverError),
    ])
    func statusesHaveCauses(_ status: Int, _ cause: FailureCause) {
        let error = AnswerRule.failure(status, retryAfter: "7", now: now, address: "a")
        #expect(error.cause == cause && error.status == status && error.retryAfter == .seconds(7))
    }

    @Test func retryAfterIsReadAndBounded() {
        #expect(AnswerRule.wait("0", now: now) == .seconds(0))
        #expect(AnswerRule.wait("99999999999999", now: now) == .seconds(3_600))
        #expect(AnswerRule.wait("99999999999999999999999", now: now) == nil)
        #expect(AnswerRule.wait("-1", now: now) == nil)
        #expect(AnswerRule.wait("soon", now: now) == nil)
        let date = Date(timeIntervalSince1970: 1_795_435_200)
        #expect(AnswerRule.wait("Mon, 23 Nov 2026 12:00:30 GMT", now: date) == .seconds(30))
        #expect(AnswerRule.wait("Mon, 23 Nov 2026 11:00:00 GMT", now: date) == .seconds(0))
    }

    @Test func rangesAreRead() {
        #expect(AnswerRule.range("bytes 5-9/10").map { [$0.start, $0.whole ?? 0] } == [5, 10])
        #expect(AnswerRule.range("bytes 5-9/*")?.start == 5)
        for text in ["", "bytes 9-5/10", "bytes */10", "items 5-9/10", "bytes 5-/10", "bytes -5-9/10", "bytes 5-9"] {
            #expect(AnswerRule.range(text) == nil, "\(text)")
        }
        #expect(AnswerRule.wholeSize("bytes */10") == 10)
        #expect(AnswerRule.wholeSize("bytes 10") == nil)
    }

    @Test(arguments: [
        ("https://a.example.com", "http://a.example.com", false),
        ("https://a.example.com", "https://b.example.com", true),
        ("http://a.example.com", "https://a.example.com", true), ("http://a.example.com", "http://b.example.com", true),
        ("http://a.example.com", "file:///etc/passwd", false), ("https://a.example.com", "ftp://a.example.com", false),
        ("HTTPS://a.example.com", "HTTP://a.example.com", false),
    ])
    func redirectsNeverLeaveHTTPS(_ old: String, _ new: String, _ isAllowed: Bool) {
        #expect(AnswerRule.mayFollow(from: URL(string: old), to: URL(string: new)) == isAllowed)
    }

    @Test(
        arguments: [
            ("https://a.tile.openstreetmap.org/1/1/1.png", FailureCause.hostForbidsBulk),
            ("https://user@a.example.com/", .invalidArguments), ("https://a.example.com/", nil),
        ] as [(String, FailureCause?)])
    func everyHopOfABulkDownloadIsChecked(_ target: String, _ cause: FailureCause?) throws {
        let address = try #require(URL(string: "https://b.example.com/1/1/1.png"))
        let (first, last) = (URL(string: "https://c.example.com/"), URL(string: target))
        let bulk = OngoingFetch(ResourceRequest(address, .tile), .memory(limit: 10))
        #expect(bulk.follows(address, to: first))
        #expect(bulk.follows(first, to: last) == (cause == nil))
        #expect(bulk.outcome.failure?.cause == cause)
        let viewed = OngoingFetch(ResourceRequest(address, .tile, isBulk: false), .memory(limit: 10))
        #expect(viewed.follows(address, to: last) && viewed.outcome.failure == nil)
    }

    /// Only a full disk is waited for; what else the system says is in the error.
    @Test func aPartFileThatCannotBeWrittenSaysWhy() throws {
        let folder = try StoreScratch()
        let error = #expect(throws: FetchError.self) { try PartFile(folder.url).begin(at: 0) }
        let failure = try #require(error)
        #expect(failure.cause == .storage && !failure.isDiskFull)
        #expect(failure.message.contains("'\(folder.url.path)'") && failure.message.contains("Is a directory"))
        #expect(failure.message.contains("retry the task"))
        #expect(FetchFault(failure) == .storage(failure.message))
        var full = failure
        full.isDiskFull = true
        #expect(FetchFault(full) == .diskFull)
    }

    @Test func whatTheAppChangesStaysABulkDownload() async throws {
        let request = ResourceRequest(try #require(URL(string: "https://b.example.com/")), .tile)
        #expect(await request.changed(by: { ResourceRequest($0.url, $0.kind, isBulk: false) }).isBulk)
        var viewed = request
        viewed.isBulk = false
        #expect(await !viewed.changed(by: { ResourceRequest($0.url, $0.kind) }).isBulk)
    }

    @Test func expiryIsCountedFromTheServersDate() {
        let date = "Mon, 23 Nov 2026 12:00:00 GMT"
        let time = Date(timeIntervalSince1970: 1_795_435_200)
        #expect(AnswerRule.expiry(cacheControl: "public, max-age=60", expires: nil, date: date, now: now) == time + 60)
        #expect(AnswerRule.expiry(cacheControl: "max-age=60", expires: nil, date: nil, now: now) == now + 60)
        #expect(AnswerRule.expiry(cacheControl: nil, expires: date, date: nil, now: now) == time)
        #expect(AnswerRule.expiry(cacheControl: "no-store", expires: date, date: nil, now: now) == now)
        #expect(AnswerRule.expiry(cacheControl: nil, expires: "0", date: nil, now: now) == nil)
    }
}
