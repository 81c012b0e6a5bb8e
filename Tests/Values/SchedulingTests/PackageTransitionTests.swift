import Digests
import Testing

@testable import Scheduling

/// The states of a package: every transition from every state.
struct PackageTransitionTests {
    private static let token = LeaseToken(epoch: 1, counter: 7)
    private static let merged = MergedPackage(digest: Bench.digest(1), size: 10, tiles: 3, tilesHash: "AB")
    private static let manifest = Bench.digest(2)
    private static let trouble = Trouble(cause: "job-cancelled", detail: "cancelled by request")

    /// The transitions, and for each state that allows them the state that follows.
    private static let legal: [(transition: PackageTransition, next: [PackageState: PackageState])] = [
        (.batchesEnded, [.waiting: .manifest]),
        (.batchesReopened, [.manifest: .waiting, .ready: .waiting, .leased: .waiting, .backoff: .waiting]),
        (.manifestStored(manifest), [.manifest: .ready]),
        (.foundInCatalog(merged, manifest: manifest), [.manifest: .publishing]),
        (.granted(token, to: 5), [.ready: .leased]),
        (.returned, [.leased: .ready]),
        (.merged(merged), [.leased: .publishing]),
        (.postponed, [.manifest: .backoff, .leased: .backoff, .publishing: .backoff]),
        (.retried(hasOpenBatches: true), [.backoff: .waiting]),
        (.retried(hasOpenBatches: false), [.backoff: .manifest]),
        (.published(version: 4, path: "p", isUnchanged: false), [.publishing: .published]),
        (.published(version: 4, path: "p", isUnchanged: true), [.publishing: .unchanged]),
        (.failed, [.manifest: .failed, .leased: .failed, .publishing: .failed]),
        (
            .jobEnded(trouble),
            [
                .waiting: .failed, .manifest: .failed, .ready: .failed, .leased: .failed, .backoff: .failed,
                .publishing: .failed, .failed: .failed,
            ]
        ),
        (.rewound, Dictionary(uniqueKeysWithValues: PackageState.allCases.map { ($0, .waiting) })),
    ]

    private func package(
        _ state: PackageState, manifest: Digest? = nil, merged: MergedPackage? = nil, trouble: Trouble? = nil
    ) -> Package {
        Package(
            id: "ee", tiles: 9, state: state, attempts: 1, losses: 1, token: Self.token, owner: 3, manifest: manifest,
            merged: merged, version: 2, path: "old", trouble: trouble)
    }

    @Test func onlyLegalTransitionsChangeAPackage() {
        for (transition, next) in Self.legal {
            for state in PackageState.allCases {
                let before = package(state)
                var after = before
                let isLegal = after.apply(transition)
                #expect(isLegal == (next[state] != nil), "\(transition) in \(state)")
                #expect(after.state == next[state] ?? state, "\(transition) in \(state)")
                if next[state] == nil { #expect(after == before, "\(transition) in \(state)") }
            }
        }
    }

    @Test func aPackageWithAManifestIsMergedAfterABackoff() {
        for hasOpenBatches in [false, true] {
            var package = package(.backoff, manifest: Self.manifest)
            _ = package.apply(.retried(hasOpenBatches: hasOpenBatches))
            #expect(package.state == .ready)
        }
    }

    @Test func aMergedPackageIsPublishedAlthoughItsJobHasEnded() {
        var package = package(.publishing, merged: Self.merged)
        _ = package.apply(.jobEnded(Self.trouble))
        #expect(package.trouble == Self.trouble)
        _ = package.apply(.published(version: 3, path: "new", isUnchanged: false))
        #expect((package.state, package.version, package.path) == (.published, 3, "new"))
        #expect(package.trouble == nil)
    }

    @Test func theFirstFailureOfAPackageStaysKnown() {
        let first = Trouble(cause: "disk-full", detail: "no space")
        var package = package(.backoff, trouble: first)
        _ = package.apply(.jobEnded(Self.trouble))
        #expect(package.trouble == first)
    }

    @Test func aRewoundPackageKeepsOnlyItsPublication() {
        var package = package(.published, manifest: Self.manifest, merged: Self.merged)
        _ = package.apply(.rewound)
        #expect((package.state, package.attempts, package.owner) == (.waiting, 0, 0))
        #expect((package.version, package.path) == (2, "old"))
        #expect((package.token, package.manifest, package.merged) == (nil, nil, nil))
    }

    @Test func theAuditReportsAnIllegalTransition() throws {
        var bench = Bench()
        let job = bench.submit(1)
        #expect(bench.scheduler.audit() == [])
        let place = try #require(bench.scheduler.places[job])
        bench.scheduler.movePackage(place, package: PackageIndex(0), by: .returned)
        #expect(bench.scheduler.audit() == ["job \(job) package 0: returned in state waiting"])
    }
}
