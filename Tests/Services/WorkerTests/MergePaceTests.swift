import Testing

@testable import Worker

struct MergePaceTests {
    @Test func onlyTheFirstOfManyMergesIsDue() {
        let pace = MergePace(interval: .seconds(2))
        let start = ContinuousClock.now
        let due = [0, 1, 1_999, 2_000, 3_999, 4_001, 60_000].filter { pace.isDue(at: start + .milliseconds($0)) }
        #expect(due == [0, 2_000, 4_001, 60_000])
    }
}
