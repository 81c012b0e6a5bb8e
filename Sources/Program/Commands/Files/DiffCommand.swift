import ArgumentParser
internal import CommandSupport
internal import Digests
import Foundation
import PackageFiles
import Shards
internal import TextFormats

/// `packhorse diff`: creates the patch between two versions of a package.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Create the patch from one version of a package to another.",
        discussion: """
            Of MBTiles files of any dialect, the patch is an MBTiles diff file: rows that differ, NULL for tiles to delete. Of PMTiles
            archives, it says which bytes are copied from the old file, and has the others; the result is the new file byte for byte.

            Examples:
              packhorse diff packages/1/EE.mbtiles packages/2/EE.mbtiles -o EE-1-2.mbtiles
              packhorse diff packages/1/EE.pmtiles packages/2/EE.pmtiles -o EE-1-2.pmtiles.patch
              packhorse diff old.mbtiles new.mbtiles --dry-run
            """)

    @Argument(help: "The old version, which clients have.") var old: String
    @Argument(help: "The new version.") var new: String
    @Option(name: .shortAndLong, help: "The patch to write.") var output: String?
    @Flag(
        help:
            "Store changed tiles of MBTiles files as binary differences. Much smaller, but only packhorse can apply it, with compression libraries that give the same bytes."
    )
    var binary = false
    @Flag(help: "Count the differences; write nothing.") var dryRun = false
    @Flag(help: "Replace an existing patch.") var force = false
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        if dryRun, output != nil {
            throw ValidationError("--dry-run writes no patch; use either -o or --dry-run")
        }
        guard dryRun || output != nil else {
            throw ValidationError("give the output with -o PATCH, or use --dry-run")
        }
    }

    func run() throws {
        let (old, new) = (URL(filePath: old), URL(filePath: new))
        try FileKind.requireFile(old)
        try FileKind.requireFile(new)
        if let output { try OutputLocation.checkFile(URL(filePath: output), replacing: force, inputs: [old, new]) }
        let line = TileLine("compared")
        defer { line.end() }
        var report = Report(full: try FileKind.size(new))
        if let output {
            let made = try Patch.make(old: old, new: new, into: URL(filePath: output), deltas: binary, replacing: force)
            {
                line.show($0)
            }
            report.set(made.counts)
            report.size = made.size
            report.sha256 = made.digest.hex
        } else {
            report.set(try Patch.compare(old: old, new: new) { line.show($0) })
        }
        line.end()
        if json { Console.result(try JSONText.pretty(report)) } else { report.lines.forEach(Console.result) }
    }

    /// What the command prints.
    struct Report: Encodable {
        var added: UInt64 = 0
        var changed: UInt64 = 0
        var removed: UInt64 = 0
        var unchanged: UInt64 = 0
        var bodyBytes: UInt64 = 0
        var deltas: UInt64 = 0
        var before = ""
        var after = ""
        /// Size of the new package in bytes.
        let full: UInt64
        /// Size of the patch in bytes; `nil` when none was written.
        var size: UInt64?
        var sha256: String?

        mutating func set(_ counts: PatchCounts) {
            (added, changed, removed, unchanged) = (counts.added, counts.changed, counts.removed, counts.unchanged)
            (bodyBytes, before, after) = (counts.bodyBytes, counts.before, counts.after)
            deltas = counts.deltas
        }

        var lines: [String] {
            let share = { (bytes: UInt64) in
                "\(Units.decimal(Double(bytes) * 100 / Double(max(1, full)), places: 1)) % of the package's \(Units.bytes(full))"
            }
            var lines = [
                "tiles     \(Units.count(added)) added, \(Units.count(changed)) changed, \(Units.count(removed)) removed, "
                    + "\(Units.count(unchanged)) alike",
                "bodies    \(Units.bytes(bodyBytes)), \(share(bodyBytes))",
            ]
            if deltas > 0 { lines.append("deltas    \(Units.count(deltas)) of the changed tiles") }
            if let size { lines.append("patch     \(Units.bytes(size)), \(share(size))") }
            if let sha256 { lines.append("sha256    \(sha256)") }
            return lines + ["before    \(before)", "after     \(after)"]
        }
    }
}
