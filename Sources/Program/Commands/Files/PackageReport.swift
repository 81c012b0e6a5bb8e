internal import CommandSupport
internal import Errors
internal import Foundation
import PackageFiles
internal import TextFormats

/// Prints a package's report.
enum PackageReport {
    static func show(_ report: VerifyReport, json: Bool) throws {
        if json {
            Console.result(try JSONText.pretty(report))
            return
        }
        Console.result("\(report.isPatch ? "patch  " : "package")   \(report.path)")
        Console.result(
            "form      \(report.kind), \(report.dialect), \(report.format ?? "unknown tile format"), \(Units.bytes(report.size))"
        )
        if let about = report.about { show(about) }
        Console.result(
            "tiles     \(Units.count(report.tiles))"
                + (report.absent.map { ", \(Units.count($0)) of the mask absent" } ?? ""))
        for zoom in report.tilesPerZoom { Console.result("zoom \(zoom.zoom)    \(Units.count(zoom.tiles))") }
        if report.otherPictures > 0 {
            Console.result("pictures  \(Units.count(report.otherPictures)) of another format")
        }
        for body in report.bodies ?? [] { Console.result(body.line) }
        Console.result("hash      \(report.tilesHash)")
        Console.result("seal      \(seal(report))")
        for problem in report.problems { Console.result("problem   \(problem)") }
        if report.problemCount > report.problems.count {
            Console.result("problem   and \(Units.count(report.problemCount - report.problems.count)) more")
        }
    }

    private static func show(_ about: FileDescription) {
        let rows = [
            ("name", about.name), ("about", about.description), ("source", about.attribution),
            ("bounds", about.bounds), ("version", about.version),
            ("layers", about.layers.map { $0.joined(separator: ", ") }),
        ]
        for case (let label, let text?) in rows {
            Console.result(label.padding(toLength: 10, withPad: " ", startingAt: 0) + text)
        }
    }

    /// Why a file is not taken: it is of another kind, not closed, of a version that is not read, or damaged; `nil` for a
    /// file that every command takes.
    ///
    /// - Parameter isStrict: Whether any problem refuses it.
    static func refusal(_ report: VerifyReport, isStrict: Bool = false) -> CLIError? {
        guard isStrict ? !report.isVerified : !report.isUsable else { return nil }
        let url = URL(filePath: report.path)
        // What cannot be read again was read before, so its report says why.
        if let kind = try? ArchiveKind.of(url), case .other(let words) = kind {
            return CLIError(
                .badData, "'\(report.path)' is \(words), neither a shard nor an MBTiles or PMTiles file",
                hint: kind.remedy(report.path))
        }
        let lines = EqualCauses.lines(report.problems.map(\.description))
        if let damage = report.damage {
            if report.problems.allSatisfy({ $0.code == "side-file" || $0.code == "wal-mode" }) {
                return CLIError(.badData, "'\(report.path)' was not closed", details: lines)
            }
            if damage.code == "unsupported" || damage.code == "encrypted" {
                return CLIError(.badData, Sentence.unreadable(report.path, damage.message))
            }
            return CLIError(
                .badData, "'\(report.path)' is damaged: \(Units.count(report.problemCount, of: "problem"))",
                details: lines, hint: "fetch or build it again")
        }
        guard report.tiles > report.unusable else {
            return CLIError(.badData, "'\(report.path)' has no tile that can be used", details: lines)
        }
        return CLIError(
            .badData, "'\(report.path)' has \(Units.count(report.problemCount, of: "problem"))", details: lines,
            hint: "without --strict it is taken as it is")
    }

    /// Says what is passed over in a file that is taken.
    static func warn(_ report: VerifyReport) {
        guard !report.isVerified else { return }
        let unusable =
            report.unusable > 0
            ? "; tiles that cannot be used are passed over: \(Units.count(report.unusable))" : ""
        Console.warning(
            "'\(report.path)' has \(Units.count(report.problemCount, of: "problem")) that other programs' files may have\(unusable)"
        )
        for line in EqualCauses.lines(report.problems.map(\.description)) { Console.note("  \(line)") }
    }

    /// The state of the seal as text.
    static func seal(_ report: VerifyReport) -> String {
        switch report.seal {
        case .valid: "sealed"
        case .broken: "seal broken"
        case .none: "no seal"
        }
    }
}
