import ClusterClient
import Errors
import Testing
import Wire

@testable import Commands

struct JobReportTests {
    private func job(packages count: Int, failures: Int = 0) -> PBJobStatus {
        PBJobStatus.make {
            $0.job = 9
            $0.label = "EU"
            $0.kind = "catalog"
            $0.weight = 1
            $0.state = "failed"
            $0.failed = UInt64(failures)
            $0.packages = (0..<count).map { number in
                .make {
                    $0.id = "P\(number)"
                    $0.state = number < 3 ? "failed" : "published"
                    $0.path = "packages/1/P\(number).mbtiles"
                    $0.size = 1_000_000
                }
            }
            $0.failures = (0..<failures).map { number in
                .make {
                    $0.tile = .make {
                        $0.zoom = 9
                        $0.x = UInt32(number)
                    }
                    $0.cause = "http-status"
                    $0.detail = "404"
                }
            }
        }
    }

    @Test func manyPackagesAreSummedUpAndThoseThatAreNotDoneListed() {
        let lines = JobReport.lines(job(packages: 473))
        #expect(lines.count < 15)
        #expect(lines[0].contains("(mixed, "), "a catalog is the published folder")
        #expect(lines.contains("packages 473: 3 failed, 470 published; 473.0 MB"))
        #expect(lines.filter { $0.hasPrefix("package  ") }.map { $0.split(separator: " ")[1] } == ["P0", "P1", "P2"])
        #expect(lines.last == "         470 packages not shown: packhorse status 9 --all")
        #expect(JobReport.lines(job(packages: 473), all: true).count(where: { $0.hasPrefix("package  ") }) == 473)
        #expect(JobReport.lines(job(packages: 4)).count(where: { $0.hasPrefix("package  ") }) == 4)
    }

    /// A job whose step failed ends the command as the same work ends as a command of its own.
    @Test(arguments: [(69, 69), (73, 73), (0, 65), (12_345, 65)] as [(UInt32, Int32)])
    func aFailedStepHasItsExitCode(_ code: UInt32, _ status: Int32) {
        let job = PBJobStatus.make {
            $0.state = "done"
            $0.steps = [
                .make { ($0.step, $0.state) = ("verify", "done") },
                .make { ($0.step, $0.state, $0.exitCode) = ("push=s3://maps/x", "failed", code) },
                .make { ($0.step, $0.state) = ("prune=3", "waiting") },
            ]
        }
        #expect(JobReport.status(job).rawValue == status)
        #expect(JobReport.status(.make { $0.state = "done" }) == .success)
    }

    @Test func oneCauseOfManyTilesIsOneLine() {
        let job = job(packages: 1, failures: 53)
        #expect(
            JobReport.lines(job).suffix(2) == [
                "failed tiles", "  http-status  404: 53 tiles, such as 9/0/0, 9/1/0, 9/2/0",
            ])
        #expect(JobReport.lines(job, all: true).last == "  9/52/0  http-status  404")
    }

    /// Broken tiles of an archive have a title of their own, which says their cause.
    @Test func tilesThatAreLeftOutAreNamedApart() {
        var job = job(packages: 1, failures: 2)
        job.failures[0].cause = "left-out"
        job.failures[0].detail = "the PNG is broken [bad-image]"
        job.failed = 2
        #expect(
            JobReport.lines(job).suffix(4) == [
                "failed tiles", "  9/1/0: http-status  404", "tiles of the archive that are left out",
                "  9/0/0: the PNG is broken [bad-image]",
            ])
        #expect(JobReport.lines(job, all: true).suffix(2).last == "  9/0/0  the PNG is broken [bad-image]")
    }
}
