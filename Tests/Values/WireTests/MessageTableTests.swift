import Foundation
import Testing

@testable import Wire

/// The generated tables against values written by hand.
struct MessageTableTests {
    /// The limits that the code had before they were generated.
    ///
    /// A limit changes here and in packhorse.proto.
    private static let limits: [MessageType: [String: Int]] = [
        .hello: ["shard_formats": 64, "package_formats": 64, "held": 1024, "exports": 32, "labels": 32],
        .welcome: ["adopted": 1024],
        .progress: ["leases": 1024, "origins": 256],
        .pong: ["cancelled": 1024, "grants": 256],
        .fail: ["lost_shards": 100],
        .return: ["tokens": 1024],
        .rateGrants: ["grants": 256],
        .commit: [
            "fetch": 1, "merge": 1, "fetch.failures": 1000, "merge.files": 2048, "fetch.parts": 1,
            "fetch.parts.cells": 16_384, "fetch.parts.zoom_min": 16_384, "fetch.parts.zoom_max": 16_384,
            "fetch.parts.tiles": 16_384,
        ],
        .offer: ["fetch": 1, "merge": 1, "fetch.sources": 256, "fetch.base": 256, "fetch.part": 1],
        .submit: [
            "packages": 4096, "packages.names": 40_000, "packages.formats": 4096 * 32, "after": 64, "formats": 32,
            "packages.nodes": 4096 * 5, "packages.nodes.names": 100_000, "publish.then": 16, "labels": 32,
        ],
        .jobs: [
            "jobs": 1000, "jobs.packages": 4096, "jobs.failures": 10_000, "jobs.packages.files": 4096 * 32,
            "jobs.formats": 1000 * 32, "jobs.labels": 1000 * 32, "jobs.steps": 16,
        ],
        .jobStatus: [
            "packages": 4096, "failures": 10_000, "packages.files": 4096 * 32, "formats": 32, "labels": 32, "steps": 16,
        ],
        .jobOrder: ["publish.then": 16],
        .health: ["other_catalogs": 64],
        .workers: ["workers": 4096, "workers.labels": 4096 * 32],
        .failedWork: ["batches": 1000, "batches.failures": 10_000],
        .failedOrder: ["batches": 4096],
        .listJobs: ["states": 16],
        .putSchedule: ["schedule.labels": 32], .scheduleOrder: ["edit.labels": 32],
        .schedules: ["schedules": 1000, "schedules.labels": 32],
        .origins: ["origins": 1000],
        .scheduleDetail: ["firings": 100, "schedule.labels": 32],
        .events: ["events": 10_000],
        .coverage: ["bands": 15],
        .withdraw: ["packages": 1000],
        .changeCatalog: ["packages": 1000],
        .compareCatalogs: ["packages": 1000],
    ]

    @Test func everyListKeepsItsLimit() {
        for type in MessageType.allCases {
            let found = Dictionary(uniqueKeysWithValues: type.listLimits.map { ($0.field, $0.most) })
            #expect(found == Self.limits[type, default: [:]], "\(type)")
        }
    }

    @Test func everyOrderNeedsAnOperator() {
        let orders: Set<MessageType> = [
            .submit, .cancelJob, .jobOrder, .failedOrder, .putSchedule, .scheduleOrder, .backup, .drainWorker,
            .originOrder, .withdraw, .changeCatalog,
        ]
        #expect(Set(MessageType.allCases.filter { $0.role == .operator }) == orders)
        #expect(MessageType.allCases.filter { $0.role == .any } == [.ping])
    }

    @Test func thePackedEntriesOfAListAreCountedBeforeTheyAreDecoded() throws {
        let most = PBReturn.make { $0.tokens = [UInt64](repeating: 1 << 32 | 7, count: 1024) }
        try Samples.reread(.return(most))
        let more = PBReturn.make { $0.tokens = most.tokens + [1] }
        let error = #expect(throws: WireError.self) { try Samples.reread(.return(more)) }
        #expect(error?.code == .tooMany)
        #expect(error?.message.contains("1025 entries in tokens") == true)
    }

    @Test func aLimitHoldsOverAllParentsAndInEveryEncoding() {
        let limit = ListLimit("parents.entries", path: [1, 3], most: 5, isPacked: true)
        // Two parents: one with the packed entries 1, 300 and 2, one with the single entry 4.
        let body: [UInt8] = [0x0A, 6, 0x1A, 4, 1, 0xAC, 0x02, 2, 0x0A, 2, 0x18, 4]
        #expect(limit.count(in: body[...]) == 4)
        #expect(limit.count(in: body.dropLast()) == nil)
    }
}
