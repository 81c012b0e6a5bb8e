import Testing

@testable import OfflineMaps

/// The progress of several tasks as one.
struct DownloadWatchTests {
    private func task(
        _ number: Int64, _ state: TaskState, fraction: Double = 0, bytes: UInt64 = 0, text: String? = nil
    ) -> StoreTask {
        var progress = TaskProgress()
        (progress.fraction, progress.transferred) = (fraction, bytes)
        return StoreTask(
            id: TaskID(number: number), kind: .install, items: [], priority: 0, state: state, progress: progress,
            failureText: text)
    }

    @Test func tasksCountByTheirBytes() {
        var watch = DownloadWatch()
        watch.add(.style("streets"), bytes: 100, task: TaskID(number: 1))
        watch.add(.package("FR"), bytes: 300, task: TaskID(number: 2))
        #expect(watch.progress == DownloadProgress(fraction: 0, transferred: 0, state: .waiting(.turn)))
        watch.take(task(2, .downloading, fraction: 0.5, bytes: 150))
        #expect(watch.progress.fraction == 0.375 && watch.progress.transferred == 150)
        watch.take(task(1, .done, fraction: 0.2, bytes: 100))
        #expect(watch.progress == DownloadProgress(fraction: 0.625, transferred: 250, state: .downloading))
        // Numbers that fall are of a process before.
        watch.take(task(2, .waiting(.network), fraction: 0.1, bytes: 10))
        #expect(watch.progress == DownloadProgress(fraction: 0.625, transferred: 250, state: .waiting(.network)))
        #expect(watch.progress.description == "62 %, waits for a network")
        watch.take(task(2, .done))
        #expect(watch.progress.isComplete && watch.progress.fraction == 1 && watch.failure == nil)
        watch.take(task(2, .downloading))
        #expect(watch.progress.isComplete)
    }

    @Test func nothingToDoIsComplete() {
        var watch = DownloadWatch()
        #expect(watch.progress.isComplete)
        watch.add(.package("FR"), bytes: .max, task: nil)
        #expect(watch.progress.isComplete && watch.progress.fraction == 1)
        watch.add(.package("DE"), bytes: .max, task: TaskID(number: 1))
        #expect(watch.progress.fraction == 0.5 && !watch.progress.isComplete)
        #expect(!watch.wants(task(2, .done)) && watch.wants(task(1, .done)))
    }

    @Test func oneTaskOfSeveralItemsIsOne() {
        var watch = DownloadWatch()
        watch.add(.package("FR"), bytes: 1, task: TaskID(number: 1))
        watch.add(.package("DE"), bytes: 1, task: TaskID(number: 1))
        watch.take(task(1, .downloading, fraction: 0.5, bytes: 7))
        #expect(watch.progress.fraction == 0.5 && watch.progress.transferred == 7)
        watch.take(task(1, .failed(.notFound)))
        #expect(watch.failure?.message == "The download of 'FR, DE' failed: the server does not have it.")
    }

    @Test func failuresAreNamed() {
        var watch = DownloadWatch()
        watch.add(.package("FR"), bytes: 1, task: TaskID(number: 1))
        watch.take(task(1, .failed(.storage), text: "The disk."))
        #expect(watch.failure?.code == .storage && watch.failure?.message == "The disk.")
        watch.take(task(1, .cancelled))
        #expect(watch.failure?.code == .wrongState)
    }

    @Test func whatTheServerHasDoneIsNamedWithTheRemedy() {
        for (cause, code) in [(.notFound, .badFile), (.notAllowed, .network), (.badBytes, .badFile)]
            as [(FailureCause, StoreError.Code)]
        {
            var watch = DownloadWatch()
            watch.add(.package("LV"), bytes: 1, task: TaskID(number: 1))
            watch.take(task(1, .failed(cause), text: download("a").text(of: cause)))
            let failure = watch.failure
            #expect(failure?.message.hasPrefix("The download of 'LV' failed: the ") == true)
            #expect(failure?.message.contains(cause.rawValue) == false && failure?.advice?.isEmpty == false)
            #expect(failure?.code == code)
        }
    }

    /// A style that is there early does not say that the map is.
    @Test func aPartThatDownloadsIsTheStateOfAll() {
        var watch = DownloadWatch()
        watch.add(.style("streets"), bytes: 1, task: TaskID(number: 1))
        watch.add(.package("FR"), bytes: 9, task: TaskID(number: 2))
        func state(_ style: TaskState, _ map: TaskState) -> TaskState {
            var watch = watch
            watch.take(task(1, style))
            watch.take(task(2, map))
            return watch.progress.state
        }
        #expect(state(.verifying, .downloading) == .downloading)
        #expect(state(.installing, .downloading) == .downloading)
        #expect(state(.downloading, .verifying) == .downloading)
        #expect(state(.installing, .waiting(.network)) == .waiting(.network))
        #expect(state(.installing, .verifying) == .verifying)
        #expect(state(.done, .installing) == .installing)
        #expect(state(.installing, .installing) == .installing)
        #expect(
            state(.waiting(.turn), .paused(.quota(needed: 2, allowed: 1))) == .paused(.quota(needed: 2, allowed: 1)))
        #expect(state(.done, .done) == .done)
    }

    /// What has to be free is said once for all files, in units that people read.
    @Test func theSpaceOfAllPartsIsNamed() {
        let margin = StoreMachine.diskMargin
        var watch = DownloadWatch()
        watch.add(.style("streets"), bytes: 1, task: TaskID(number: 1))
        watch.add(.package("FR"), bytes: 9, task: TaskID(number: 2))
        watch.take(task(1, .paused(.diskFull(needed: 1_000_000 + margin, free: 62_775_296))))
        watch.take(task(2, .paused(.diskFull(needed: 400_000_000 + margin, free: 62_775_296))))
        #expect(watch.progress.state == .paused(.diskFull(needed: 401_000_000 + margin, free: 62_775_296)))
        #expect(watch.progress.state.words == "needs 468.1 MB of free disk, and 62.8 MB are free")
        watch.take(task(1, .paused(.diskFull(needed: .max, free: 0))))
        #expect(watch.progress.state.words.hasPrefix("needs "))
    }

    @Test func everyStateHasWords() {
        let states: [TaskState] = [
            .waiting(.turn), .waiting(.network), .waiting(.backoff(.zero)), .waiting(.server(.zero)),
            .waiting(.otherProcess), .downloading, .verifying, .installing, .removing, .paused(.user),
            .paused(.stopped), .paused(.networkRule), .paused(.diskFull(needed: 2, free: 1)),
            .paused(.quota(needed: 2, allowed: 1)), .failed(.badBytes), .done, .cancelled,
        ]
        #expect(Set(states.map(\.words)).count == states.count)
    }
}
