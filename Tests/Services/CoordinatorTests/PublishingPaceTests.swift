import Testing

@testable import Coordinator

/// When waiting packages are published.
struct PublishingPaceTests {
    private let start = ContinuousClock.now

    @Test func aLonePackageGoesAtOnce() {
        var pace = PublishingPace()
        #expect(pace.due(oldest: start, isFull: false) == start)
        pace.wrote(until: start, cost: .milliseconds(20))
        let later = start + .milliseconds(80)
        #expect(pace.due(oldest: later, isFull: false) == later, "the pause is over")
    }

    @Test func packagesThatFollowAreTakenTogether() {
        var pace = PublishingPace()
        pace.wrote(until: start, cost: .milliseconds(20))
        for after in [0, 30, 79] {
            #expect(
                pace.due(oldest: start + .milliseconds(after), isFull: false) == start + .milliseconds(80),
                "one writing for all three")
        }
        #expect(pace.due(oldest: start + .milliseconds(30), isFull: true) == start + .milliseconds(30))
    }

    @Test(arguments: [1, 20, 200, 300, 900, 1_500, 60_000])
    func nothingWaitsLongerThanASecond(_ cost: Int) {
        var pace = PublishingPace()
        let cost = Duration.milliseconds(cost)
        pace.wrote(until: start, cost: cost)
        for after in stride(from: 0, through: 2_000, by: 10) {
            let oldest = start + .milliseconds(after)
            let due = pace.due(oldest: oldest, isFull: false)
            #expect(due >= oldest, "no package is published before it is there")
            #expect(due + min(cost, .seconds(1)) <= oldest + .seconds(1), "it is in the lists a second later")
        }
    }
}
