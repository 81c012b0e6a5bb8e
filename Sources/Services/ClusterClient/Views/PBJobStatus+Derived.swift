internal import Packages
package import Wire

extension PBJobStatus {
    /// Tiles that are committed or completed by a running lease; never above `tiles`.
    package var settled: UInt64 { min(tiles, stored + empty + failed + inFlightDone) }

    /// Share of completed tiles, 0...1.
    package var fraction: Double { tiles == 0 ? 1 : Double(settled) / Double(tiles) }

    /// What the packages are made from.
    ///
    /// `mixed` = several kinds. A message has the word `catalog` for that, which users know as the folder of packages.
    package var shownKind: String { kind == "catalog" ? "mixed" : kind }

    /// The formats of its packages in display order, unknown ones last.
    package var allFormats: [String] {
        let known = PackageFormat.allCases.map(\.rawValue)
        return known.filter(formats.contains) + formats.filter { !known.contains($0) }.sorted()
    }

    /// Seconds since the submission, or until the end.
    package var elapsedSeconds: Double { Double(elapsedMs) / 1000 }

    /// The zoom range, for example `0-14`, or `5`.
    package var zooms: String { ZoomText.range(zoomMin, zoomMax) }

    /// Whether the job is in a final state.
    package var isOver: Bool { ["done", "failed", "cancelled"].contains(state) }

    /// The first step after it that is not done.
    package var nextStep: PBStepStatus? { state == "done" ? steps.first { $0.state != "done" } : nil }

    /// Whether the job is in a final state, and its steps are done or one has failed.
    package var isOverWithSteps: Bool { isOver && (nextStep.map { $0.state == "failed" } ?? true) }

    /// Whether it failed because its archive was replaced.
    package var isOfChangedSource: Bool { reason.hasPrefix("source-changed:") }

    /// The same without the paths of its packages, for when the files are gone, or on another machine.
    package var withoutPaths: PBJobStatus {
        var status = self
        for package in status.packages.indices {
            status.packages[package].path = ""
            for file in status.packages[package].files.indices { status.packages[package].files[file].path = "" }
        }
        return status
    }
}
