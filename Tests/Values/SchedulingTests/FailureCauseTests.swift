import Errors
import Scheduling
import Testing

struct FailureCauseTests {
    @Test func everyCodeIsKebabCaseAndReadsBack() {
        for cause in FailureCause.allCases {
            #expect(cause.rawValue.utf8.allSatisfy { (97...122).contains($0) || $0 == 45 })
            #expect(FailureCause(named: cause.rawValue) == cause)
        }
    }

    @Test(arguments: [
        ("http-404", FailureCause.refused), ("http-429", .throttled), ("http-503", .serverError),
        ("http-501", .refused),
        ("http-408", .passingRefusal), ("http-999", .unknown), ("http-1", .unknown), ("", .unknown),
        ("nonsense", .unknown),
        ("http-٤٠٤", .unknown),
    ])
    func statusesAndForeignTextsHaveOneMeaning(_ code: String, _ cause: FailureCause) {
        #expect(FailureCause(named: code) == cause)
    }

    @Test func onlyWaitingOrdersAndDisksAreFree() {
        let free = FailureCause.allCases.filter { !$0.costsAttempt }
        #expect(
            Set(free) == [
                .throttled, .cancelled, .drained, .dropped, .jobFailed, .jobCancelled, .diskFull,
                .inputOutput, .blobStore, .storeMissing, .originBusy,
            ])
    }

    @Test func aForeignCauseIsKeptInTheDetail() {
        let heard = Trouble.reported(cause: "mars-attacks", detail: "ack ack")
        #expect(heard.cause == "unknown")
        #expect(heard.detail == "mars-attacks: ack ack")
        #expect(Trouble.reported(cause: "http-404", detail: "").cause == "http-404")
    }

    @Test func whatLiesWithTheTileOrTheJobIsNotRetriedForNothing() {
        for cause in FailureCause.allCases where cause.fault == .job { #expect(!cause.isRetriable, "\(cause)") }
        #expect(!FailureCause.htmlPage.isRetriable)
        #expect(FailureCause.unknown.isRetriable)
        #expect(FailureCause.timeout.isRetriable)
    }
}
