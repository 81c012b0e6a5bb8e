/// Situations that a thousand seeds must have met; a simulation that misses one proves less than it says.
enum Mark: Int, CaseIterable {
    case lost, doubled, cutBothWays, cutOneWay, workerCrashed, workerPaused, workerDrained, workerSlow
    case workerDiskFull, diedBeforeCommit, diedAfterCommit, diedBetweenLetters, diedBetweenChores, diedAtRandom
    case coordinatorPaused, loopStalled, storeFull, powerCut, blobLost, blobRotten, clockJumped
    case leaseExpired, staleCommit, ackRepeated, leaseAdopted, leaseReturned, undelivered, oldOfferRefused
    case commitResent, refusedWithoutBlob, shardRefetched, manifestRewritten, mergedAgain, publishedAgain
    case tilesTriedAgain, failuresAccepted, jobCancelled, jobFailed, jobForgotten, orphanNamed, blobsReleased
    case originChanged, submittedAgain, commitWhileRemoving
    case paused, retriedWithBlobs, retriedAnew, failedWorkReconsidered, batchCut, followed, speculativeGranted,
        speculativeWon,
        tilesReused, fileLost, formatsMerged, mergerSpared, publishedTogether
    case tilesConfirmed, shardKept, mergeSkipped, rangesPlanned, planMadeAgain, labelHeeded
}

/// A set of marks.
struct Marks: Equatable {
    private(set) var bits: UInt64 = 0
    mutating func hit(_ mark: Mark) { bits |= 1 << UInt64(mark.rawValue) }
    mutating func add(_ other: Marks) { bits |= other.bits }
    func has(_ mark: Mark) -> Bool { bits & (1 << UInt64(mark.rawValue)) != 0 }
    var missing: [Mark] { Mark.allCases.filter { !has($0) } }
}
