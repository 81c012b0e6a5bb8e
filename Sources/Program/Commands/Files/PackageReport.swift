internal import CommandSupport
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
        Console.result(
            "tiles     \(Units.count(report.tiles))"
                + (report.absent.map { ", \(Units.count($0)) of the mask absent" } ?? ""))
        for zoom in report.tilesPerZoom { Console.result("zoom \(zoom.zoom)    \(Units.count(zoom.tiles))") }
        Console.result("hash      \(report.tilesHash)")
        Console.result("seal      \(seal(report))")
        for problem in report.problems { Console.result("problem   \(problem)") }
        if report.problemCount > report.problems.count {
            Console.result("problem   and \(Units.count(report.problemCount - report.problems.count)) more")
        }
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
