internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Packages
internal import TextFormats
import Wire

/// The result of a build, for people and for programs.
struct BuildReport: Encodable {
    struct File: Encodable {
        let path: String
        let package: String
        let format: String
        let language: String?
        let size: UInt64?
        let sha256: String?
        let tiles: UInt64?
        /// Whether a file with these bytes existed already.
        let unchanged: Bool

        init(_ output: BuildOutput, size: UInt64, sha256: String, tiles: UInt64?, isNew: Bool) {
            path = output.name
            package = output.package
            format = output.format.rawValue
            language = output.language.isEmpty ? nil : output.language
            (self.size, self.sha256, self.tiles) = (size, sha256, tiles)
            unchanged = !isNew
        }

        /// A file of an earlier build.
        init(unchanged output: BuildOutput) {
            path = output.name
            package = output.package
            format = output.format.rawValue
            language = output.language.isEmpty ? nil : output.language
            // The size is only shown; the result does not depend on it.
            (size, sha256, tiles) = (try? FileKind.size(output.url), nil, nil)
            unchanged = true
        }
    }

    /// `done`, `failed`, or `unchanged` when there was nothing to do.
    let state: String
    let files: [File]
    /// The jobs that made them; empty when there was nothing to do.
    let jobs: [PBJobStatus]
    private let stateFolder: String

    enum CodingKeys: CodingKey {
        case state, files, jobs
    }

    /// - Parameter isWhole: Whether every package has its files.
    init(_ plan: BuildPlan, _ jobs: [PBJobStatus], files: [File], isWhole: Bool) {
        let isGood = isWhole && jobs.allSatisfy { JobReport.status($0) == .success }
        state = !isGood ? "failed" : jobs.isEmpty ? "unchanged" : "done"
        self.files = files
        // A build on this machine publishes into a folder that is removed with the build.
        self.jobs = plan.isShared ? jobs : jobs.map(\.withoutPaths)
        stateFolder = plan.state.relativePath
    }

    var isDone: Bool { state != "failed" }

    /// Whether another run can use the fetched tiles.
    ///
    /// Tiles of a replaced archive cannot be used.
    var keepsWork: Bool {
        jobs.contains { $0.stored > 0 } && !isOfChangedSource
    }

    /// Whether it failed because an archive was replaced.
    var isOfChangedSource: Bool { jobs.contains(where: \.isOfChangedSource) }

    /// Prints it on standard output: the files, or one object.
    ///
    /// - Parameter listsFiles: Whether standard output gets the list of the files.
    /// - Throws: ``CLIError`` for the first job that failed.
    func show(json: Bool, listsFiles: Bool = true) throws {
        for job in jobs {
            let lines = isDone ? JobReport.failures(job) : JobReport.lines(job)
            let isSuccess = JobReport.status(job) == .success
            if isSuccess, JobReport.onlyLeavesOut(job) {
                let words = job.failed == 1 ? "cannot be used and is left out" : "cannot be used and are left out"
                Console.warning("\(job.label): \(Units.count(job.failed, of: "tile")) of the archive \(words)")
            }
            lines.forEach(Console.note)
            if isDone {
                for package in job.packages where !package.remark.isEmpty {
                    Console.warning("\(package.id): \(package.remark)")
                }
            }
            guard isSuccess, job.empty > 0 else { continue }
            let text =
                "\(job.label): the source has \(Units.count(job.stored)) of \(Units.count(job.tiles, of: "tile"))"
            if job.empty > job.stored {
                Console.warning("\(text); does it cover the area?")
            } else {
                Console.note(
                    "\(text); \(Units.count(job.empty, of: "other is", "others are")) empty")
            }
        }
        if json {
            Console.result(try JSONText.pretty(self))
        } else {
            for file in files {
                if !jobs.isEmpty { Console.note(Self.line(file)) }
                if listsFiles { Console.result(file.path) }
            }
        }
        guard !isDone else { return }
        let bad = jobs.first { JobReport.status($0) != .success }
        throw CLIError(
            bad.map(JobReport.status) ?? .badData,
            "the build failed" + (bad.map { $0.reason.isEmpty ? "" : ": \($0.reason)" } ?? ""),
            hint: remedy(bad), isOfChangedSource: isOfChangedSource)
    }

    /// What to do after a failure.
    private func remedy(_ bad: PBJobStatus?) -> String {
        let again = ShellText.thisCommand(without: "--restart")
        if let bad, JobReport.onlyLeavesOut(bad) {
            return "without --strict and --allowed-missing 0 broken tiles of the archive are left out"
        }
        let reason = bad?.reason ?? ""
        guard keepsWork else {
            return reason.hasPrefix("no-tiles")
                ? "no tiles are kept; run the command again with another area, tileset or zooms"
                : "no tiles are kept; to start over, run: \(again)"
        }
        let kept = "fetched tiles are kept in '\(stateFolder)'"
        if let bad, JobReport.isAboveFileLimit(bad) {
            return "\(kept); run the same command with a larger --max-file, or without it"
        }
        return reason.hasPrefix("bad-style")
            ? "\(kept); when the style can be read, run: \(again); another --style needs --restart"
            : "\(kept); to fetch the rest, run: \(again)"
    }

    private static func line(_ file: File) -> String {
        let facts = [
            file.size.map(Units.bytes), file.tiles.map { Units.count($0, of: "tile") },
            file.unchanged ? "unchanged" : "verified",
        ]
        return "\(file.path): \(facts.compactMap(\.self).joined(separator: ", "))"
    }
}
