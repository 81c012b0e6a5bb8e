import Testing
import TextFormats

@testable import Gateway

struct ConditionsTests {
    /// The tag is "a"; the date is 1994-11-06 08:49:37 GMT.
    private static let validators = Conditions.Validators(tag: EntityTag("a"), modified: 784_111_777)
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
    private static let go = Conditions.Outcome.proceed(isRanged: true)

    private static let cases: [(Conditions, Conditions.Outcome)] = [
        (Conditions(), go),
        (Conditions(ifMatch: "\"a\""), go),
        (Conditions(ifMatch: "*"), go),
        (Conditions(ifMatch: "\"b\", \"a\""), go),
        (Conditions(ifMatch: "\"b\""), .failed),
        (Conditions(ifMatch: "W/\"a\""), .failed),
        (Conditions(ifMatch: "nonsense"), .failed),
        (Conditions(ifUnmodifiedSince: date), go),
        (Conditions(ifUnmodifiedSince: after), go),
        (Conditions(ifUnmodifiedSince: before), .failed),
        (Conditions(ifUnmodifiedSince: "nonsense"), go),
        // If-Match decides; If-Unmodified-Since is not looked at.
        (Conditions(ifMatch: "\"a\"", ifUnmodifiedSince: before), go),
        (Conditions(ifNoneMatch: "\"a\""), .notModified),
        (Conditions(ifNoneMatch: "W/\"a\""), .notModified),
        (Conditions(ifNoneMatch: "*"), .notModified),
        (Conditions(ifNoneMatch: "\"x\", W/\"a\""), .notModified),
        (Conditions(ifNoneMatch: "\"x,a\""), go),
        (Conditions(ifNoneMatch: "\"b\""), go),
        (Conditions(ifNoneMatch: "nonsense"), go),
        (Conditions(ifModifiedSince: date), .notModified),
        (Conditions(ifModifiedSince: after), .notModified),
        (Conditions(ifModifiedSince: before), go),
        (Conditions(ifModifiedSince: "nonsense"), go),
        // If-None-Match decides; If-Modified-Since is not looked at.
        (Conditions(ifNoneMatch: "\"b\"", ifModifiedSince: date), go),
        (Conditions(ifMatch: "\"b\"", ifNoneMatch: "\"a\""), .failed),
        (Conditions(ifMatch: "\"a\"", ifNoneMatch: "\"a\""), .notModified),
        (Conditions(ifRange: "\"a\""), go),
        (Conditions(ifRange: "\"b\""), .proceed(isRanged: false)),
        (Conditions(ifRange: "W/\"a\""), .proceed(isRanged: false)),
        (Conditions(ifRange: "\"a\", \"b\""), .proceed(isRanged: false)),
        (Conditions(ifRange: "*"), .proceed(isRanged: false)),
        (Conditions(ifRange: date), go),
        (Conditions(ifRange: after), .proceed(isRanged: false)),
        (Conditions(ifRange: before), .proceed(isRanged: false)),
        (Conditions(ifRange: "nonsense"), .proceed(isRanged: false)),
        (Conditions(ifNoneMatch: "\"a\"", ifRange: "\"b\""), .notModified),
    ]

    @Test(arguments: cases.indices) func conditionsDecide(_ index: Int) {
        let (conditions, expected) = Self.cases[index]
        #expect(conditions.outcome(Self.validators) == expected, "\(conditions)")
    }

    @Test func aChangeIsRefusedWhereAReadIsNotModified() {
        #expect(Conditions(ifNoneMatch: "*").outcome(Self.validators, isRead: false) == .failed)
        #expect(Conditions(ifModifiedSince: Self.date).outcome(Self.validators, isRead: false) == Self.go)
    }

    @Test func aResourceWithoutDateIgnoresDates() {
        let bare = Conditions.Validators(tag: EntityTag("a"))
        #expect(Conditions(ifModifiedSince: Self.after).outcome(bare) == Self.go)
        #expect(Conditions(ifUnmodifiedSince: Self.before).outcome(bare) == Self.go)
        #expect(Conditions(ifRange: Self.date).outcome(bare) == .proceed(isRanged: false))
    }

    @Test func datesAreWrittenAsTheyAreRead() {
        #expect(HTTPDate.text(secondsSince1970: 784_111_777) == Self.date)
        #expect(HTTPDate.text(secondsSince1970: 0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        for seconds in stride(from: Int64(0), to: 4_102_444_800, by: 86_400 * 13 + 7_919) {
            #expect(HTTPDate.secondsSince1970(HTTPDate.text(secondsSince1970: seconds)) == seconds)
        }
    }

    @Test func codingsAreTakenByNameThenByStar() {
        for (header, expected) in [
            ("gzip", true), ("GZIP;q=0.5", true), ("x-gzip", true), ("*", true), ("br, gzip", true), ("br", false),
            ("gzip;q=0", false), ("gzip; q=0.000", false), ("*;q=0", false), ("*, gzip;q=0", false),
            ("gzip;q=0, *", false), ("identity", false), ("", false), ("gzip;q=0.001", true),
        ] { #expect(AcceptEncoding.takes("gzip", header) == expected, "\(header)") }
        #expect(!AcceptEncoding.takes("gzip", nil))
    }
}
