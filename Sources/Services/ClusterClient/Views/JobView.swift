internal import Foundation
internal import PackageFiles
internal import TextFormats
package import Wire

/// A job as commands print it.
///
/// The JSON keys (snake case) are stable.
package struct JobView: Encodable, Sendable {
    package let job: UInt64
    package let label: String
    package let kind: String
    package let state: String
    package let tileset: String
    package let zoomMin: UInt32
    package let zoomMax: UInt32
    package let tiles: UInt64
    package let stored: UInt64
    package let empty: UInt64
    package let failed: UInt64
    /// Tiles that are committed or completed by a running lease; never above `tiles`.
    package let settled: UInt64
    package let bytes: UInt64
    /// Of the stored and empty tiles, those taken from existing shards.
    package let reused: UInt64
    /// Of the stored tiles, those that the origin only confirmed: they are unchanged since an earlier build.
    package let notModified: UInt64
    /// Body bytes that the origin sent.
    package let received: UInt64
    package let batches: UInt64
    package let batchesDone: UInt64
    package let batchesFailed: UInt64
    package let priority: Int32
    package let weight: UInt32
    /// Jobs that it still waits for.
    package let after: [UInt64]
    package let elapsedSeconds: Double
    /// When it was submitted, got its first lease and ended: UTC, ISO 8601, `2026-11-22T14:03:05Z`.
    package let submitted: String?
    package let started: String?
    package let ended: String?
    /// Whether it is an old job whose packages, batches and failed tiles are no longer kept.
    package let summaryOnly: Bool
    /// Number of its packages, including those omitted from `packages`.
    package let packagesTotal: UInt32
    package let reason: String?
    /// Why it makes no progress now.
    package let waiting: String?
    /// The formats of its packages, MBTiles first.
    package let formats: [String]
    package let style: String?
    /// The data group and the language of its catalog channel.
    package let group: String?
    package let language: String?
    package private(set) var packages: [PackageView]
    package let failures: [FailureView]

    package struct PackageView: Encodable, Sendable {
        package let id: String
        package let state: String
        package let version: UInt32?
        package let size: UInt64?
        package let tiles: UInt64?
        package let sha256: String?
        package fileprivate(set) var path: String?
        package let tilesHash: String?
        /// The package in other formats.
        package fileprivate(set) var files: [FileView]
    }

    package struct FileView: Encodable, Sendable {
        package let format: String
        package let size: UInt64
        package let sha256: String
        package fileprivate(set) var path: String?
    }

    package struct FailureView: Encodable, Sendable {
        package let tile: String
        package let cause: String
        package let detail: String
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
    package var zooms: String { zoomMin == zoomMax ? "\(zoomMin)" : "\(zoomMin)-\(zoomMax)" }

    /// The same without the paths of its packages, for when the files are gone.
    package var withoutPaths: JobView {
        var view = self
        for package in view.packages.indices {
            view.packages[package].path = nil
            for file in view.packages[package].files.indices { view.packages[package].files[file].path = nil }
        }
        return view
    }

    /// Whether it failed because its archive was replaced.
    package var isOfChangedSource: Bool { reason?.hasPrefix("source-changed:") == true }

    /// Share of completed tiles, 0...1.
    package var fraction: Double { tiles == 0 ? 1 : Double(settled) / Double(tiles) }
}

extension JobView.PackageView {
    package init(_ status: PBPackageStatus) {
        id = status.id
        state = status.state
        version = status.version == 0 ? nil : status.version
        size = status.size == 0 ? nil : status.size
        tiles = status.tiles == 0 ? nil : status.tiles
        sha256 = status.sha256.isEmpty ? nil : Hexadecimal.text([UInt8](status.sha256))
        path = status.path.isEmpty ? nil : status.path
        tilesHash = status.tilesHash.isEmpty ? nil : status.tilesHash
        files = status.files.map(JobView.FileView.init)
    }
}

extension JobView.FileView {
    package init(_ file: PBPackageFile) {
        format = file.format
        size = file.size
        sha256 = Hexadecimal.text([UInt8](file.sha256))
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
    package init(_ failure: PBTileFailure) {
        tile = "\(failure.tile.zoom)/\(failure.tile.x)/\(failure.tile.y)"
        cause = failure.cause
        detail = failure.detail
    }
}
