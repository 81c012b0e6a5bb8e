import Foundation
import PackageFiles
package import Wire

/// A job as commands print it.
///
/// The JSON keys (snake case) are stable.
package struct JobView: Encodable, Sendable {
    let job: UInt64
    let label: String
    let kind: String
    package let state: String
    let tileset: String
    let zoomMin: UInt32
    let zoomMax: UInt32
    let tiles: UInt64
    let stored: UInt64
    let empty: UInt64
    let failed: UInt64
    /// Tiles that are committed or completed by a running lease; never above `tiles`.
    package let settled: UInt64
    let bytes: UInt64
    /// Of the stored and empty tiles, those taken from existing shards.
    let reused: UInt64
    /// Of the stored tiles, those that the origin only confirmed: they are unchanged since an earlier build.
    let notModified: UInt64
    /// Body bytes that the origin sent.
    let received: UInt64
    let batches: UInt64
    let batchesDone: UInt64
    let batchesFailed: UInt64
    let priority: Int32
    let weight: UInt32
    /// Jobs that it still waits for.
    let after: [UInt64]
    let elapsedSeconds: Double
    /// When it was submitted, got its first lease and ended: UTC, ISO 8601, `2026-11-22T14:03:05Z`.
    let submitted: String?
    let started: String?
    let ended: String?
    /// Whether it is an old job whose packages, batches and failed tiles are no longer kept.
    let summaryOnly: Bool
    /// Number of its packages, including those omitted from `packages`.
    let packagesTotal: UInt32
    let reason: String?
    /// Why it makes no progress now.
    package let waiting: String?
    /// The formats of its packages, MBTiles first.
    let formats: [String]
    let style: String?
    /// The data group and the language of its catalog channel.
    let group: String?
    let language: String?
    private(set) var packages: [PackageView]
    let failures: [FailureView]

    struct PackageView: Encodable, Sendable {
        let id: String
        let state: String
        let version: UInt32?
        let size: UInt64?
        let tiles: UInt64?
        let sha256: String?
        fileprivate(set) var path: String?
        let tilesHash: String?
        /// The package in other formats.
        fileprivate(set) var files: [FileView]
    }

    struct FileView: Encodable, Sendable {
        let format: String
        let size: UInt64
        let sha256: String
        fileprivate(set) var path: String?
    }

    struct FailureView: Encodable, Sendable {
        let tile: String
        let cause: String
        let detail: String
    }

    package init(_ status: PBJobStatus) {
        job = status.job
        label = status.label
        // Older coordinators report `catalog` for a job of several kinds. That word now means the folder of packages.
        kind = status.kind == "catalog" ? "mixed" : status.kind
        state = status.state
        tileset = status.tileset
        zoomMin = status.zoomMin
        zoomMax = status.zoomMax
        tiles = status.tiles
        stored = status.stored
        empty = status.empty
        failed = status.failed
        settled = min(status.tiles, status.stored + status.empty + status.failed + status.inFlightDone)
        bytes = status.bytes
        reused = status.reused
        notModified = status.notModified
        received = status.received
        batches = status.batches
        batchesDone = status.batchesDone
        batchesFailed = status.batchesFailed
        priority = status.priority
        weight = status.weight
        after = status.after
        waiting = status.waiting.isEmpty ? nil : status.waiting
        formats = ["mbtiles"] + PackageFormat.ordered(status.formats)
        style = status.style.isEmpty ? nil : status.style
        group = status.edition.group.isEmpty ? nil : status.edition.group
        language = status.edition.language.isEmpty ? nil : status.edition.language
        elapsedSeconds = Double(status.elapsedMs) / 1000
        submitted = WallTime.iso(status.submittedMs)
        started = WallTime.iso(status.startedMs)
        ended = WallTime.iso(status.endedMs)
        summaryOnly = status.summary
        packagesTotal = status.packagesTotal
        reason = status.reason.isEmpty ? nil : status.reason
        packages = status.packages.map(PackageView.init)
        failures = status.failures.map(FailureView.init)
    }

    /// Whether the job is in a final state.
    package var isOver: Bool { ["done", "failed", "cancelled"].contains(state) }

    /// The zoom range, for example `0-14`, or `5`.
    var zooms: String { zoomMin == zoomMax ? "\(zoomMin)" : "\(zoomMin)-\(zoomMax)" }

    /// The same without the paths of its packages, for when the files are gone.
    var withoutPaths: JobView {
        var view = self
        for package in view.packages.indices {
            view.packages[package].path = nil
            for file in view.packages[package].files.indices { view.packages[package].files[file].path = nil }
        }
        return view
    }

    /// Whether it failed because its archive was replaced.
    var isOfChangedSource: Bool { reason?.hasPrefix("source-changed:") == true }

    /// Share of completed tiles, 0...1.
    package var fraction: Double { tiles == 0 ? 1 : Double(settled) / Double(tiles) }
}

extension JobView.PackageView {
    init(_ status: PBPackageStatus) {
        id = status.id
        state = status.state
        version = status.version == 0 ? nil : status.version
        size = status.size == 0 ? nil : status.size
        tiles = status.tiles == 0 ? nil : status.tiles
        sha256 = status.sha256.isEmpty ? nil : status.sha256.map { Hex.byte($0) }.joined()
        path = status.path.isEmpty ? nil : status.path
        tilesHash = status.tilesHash.isEmpty ? nil : status.tilesHash
        files = status.files.map(JobView.FileView.init)
    }
}

extension JobView.FileView {
    init(_ file: PBPackageFile) {
        format = file.format
        size = file.size
        sha256 = file.sha256.map { Hex.byte($0) }.joined()
        path = file.path.isEmpty ? nil : file.path
    }
}

extension PackageFormat {
    /// Names of formats in display order.
    ///
    /// Unknown ones come last.
    fileprivate static func ordered(_ names: [String]) -> [String] {
        let known = allCases.map(\.rawValue)
        return known.filter(names.contains) + names.filter { !known.contains($0) }.sorted()
    }
}

extension JobView.FailureView {
    init(_ failure: PBTileFailure) {
        tile = "\(failure.tile.zoom)/\(failure.tile.x)/\(failure.tile.y)"
        cause = failure.cause
        detail = failure.detail
    }
}

/// Hexadecimal text.
enum Hex {
    static func byte(_ value: UInt8) -> String {
        let text = String(value, radix: 16)
        return text.count == 1 ? "0" + text : text
    }
}
