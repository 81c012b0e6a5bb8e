import OfflineMaps
import Testing
import Tiles

@testable import OfflineMapsAdapters

/// How the adapters translate states, numbers and ids.
struct TranslationTests {
    private func task(_ kind: TaskKind, _ state: TaskState, fraction: Double = 0) -> StoreTask {
        var progress = TaskProgress()
        progress.fraction = fraction
        return StoreTask(
            id: TaskID(number: 1), kind: kind, items: [.package("EE")], priority: 0, state: state, progress: progress)
    }

    @Test func statusesHaveTheActionsOfCarto() {
        let cases: [(StoreTask, PackageAction, Bool, Float)] = [
            (task(.install, .waiting(.turn)), .waiting, true, 0),
            (task(.install, .paused(.user), fraction: 0.999), .downloading, true, 99),
            (task(.install, .downloading, fraction: 0.5), .downloading, false, 50),
            (task(.update, .verifying, fraction: 1), .downloading, false, 100),
            (task(.rollback, .installing), .copying, false, 0),
            (task(.remove, .removing), .removing, false, 0),
            (task(.remove, .waiting(.turn), fraction: 0.5), .waiting, true, 50),
        ]
        for (task, action, isPaused, progress) in cases {
            #expect(
                PackageStatus(task)
                    == PackageStatus(currentAction: action, isPaused: isPaused, progress: progress), "\(task)")
        }
        for state in [TaskState.done, .cancelled, .failed(.storage)] {
            #expect(PackageStatus(task(.install, state)) == nil)
        }
    }

    @Test func enumerationsHaveTheNumbersOfCarto() {
        #expect([PackageAction.ready, .waiting, .downloading, .copying, .removing].map(\.rawValue) == [0, 1, 2, 3, 4])
        #expect([PackageType.map, .routing, .geocoding, .valhallaRouting].map(\.rawValue) == [0, 1, 2, 3])
        #expect([PackageTileStatus.missing, .partial, .full].map(\.rawValue) == [0, 1, 2])
    }

    @Test(arguments: [
        "bbox(13.2285,52.4698,13.5046,52.57477)", "bbox( -1e1, -2.5, 3, 4 )", "bbox(0,0,1E1,2)",
    ])
    func boxesAreIds(_ text: String) throws {
        let box = try #require(BoxID(text))
        #expect(box.text == text && box.box.west < box.box.east)
    }

    @Test(arguments: [
        "", "EE", "bbox", "bbox()", "bbox(1,2,3)", "bbox(1,2,3,4,5)", "bbox(1,2,3,)", "bbox(3,2,1,4)", "bbox(1,4,3,2)",
        "bbox(+1,2,3,4)", "bbox(nan,2,3,4)", "bbox(1,2,3,4", "bbox(-181,0,1,1)", "bbox(1,2,0x3,4)", "xbbox(1,2,3,4)",
    ])
    func otherTextsAreNoBoxes(_ text: String) { #expect(BoxID(text) == nil) }

    @Test func packStatesFollowTheTaskThenTheRegion() {
        #expect(PackState(.registered, nil) == .inactive)
        #expect(PackState(.registered, .waiting(.network)) == .active)
        #expect(PackState(.loading, .failed(.notFound)) == .inactive)
        #expect(PackState(.stale, .done) == .complete)
        #expect(PackState(.damaged, nil) == .inactive)
        #expect(PackState(.complete, .downloading) == .active)
    }

    @Test func countsOfAPackHaveTilesAndPacks() {
        var progress = TaskProgress()
        progress.resources = Counts(required: 6, completed: 5, bytes: 500)
        progress.tiles = Counts(required: 9, completed: 3, bytes: 30)
        progress.packs = Counts(required: 2, completed: 1, bytes: 7)
        let pack = PackProgress(progress)
        #expect(pack.countOfResourcesCompleted == 9 && pack.countOfBytesCompleted == 537)
        #expect(pack.countOfTilesCompleted == 4 && pack.countOfTileBytesCompleted == 37)
        #expect(pack.countOfResourcesExpected == 17 && pack.maximumResourcesExpected == 17)
    }

    @Test func everyCauseHasAResultOfHERE() {
        let results = Dictionary(grouping: FailureCause.allCases, by: MapLoaderResult.init(_:))
        #expect(Set(results.keys) == [.connectionFailed, .invalidParameters, .initializationFailed])
        #expect(MapLoaderResult(StoreError(.diskFull, "full")) == .insufficientStorage)
        #expect(MapLoaderResult(StoreError(.limit, "much")) == .insufficientStorage)
        #expect(MapLoaderResult(StoreError(.notInCatalog, "none")) == .invalidParameters)
    }
}
