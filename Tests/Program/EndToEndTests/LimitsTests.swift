import Foundation
import TestSupport
import Testing

/// Big jobs plan in flat memory; a full disk stops work and loses nothing.
@Suite(.serialized)
struct LimitsTests {
    @Test(.timeLimit(.programs))
    func germanyPlansInLittleMemory() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(in: scratch)
        let cluster = try await Cluster(workers: 0, in: scratch)
        let outcome = try await cluster.run(["submit", "DE", "--tileset", origin.tileset, "--zoom", "0-14"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let job = try await cluster.status(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(job.tiles > 150_000)
        #expect(job.batches < 1000, "batches are cells, not tiles")
        #expect(try #require(cluster.coordinator).peakMemory < 120 << 20)
        try await cluster.stop()
    }

    @Test(.enabled(if: geteuid() == 0, "skipped: mounting a small disk needs root"), .timeLimit(.programs))
    func aFullDiskStopsTheJobUntilThereIsRoom() async throws {
        let scratch = try Scratch()
        let data = scratch.url("small")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let mounted = try await Program.run(
            URL(filePath: "/bin/mount"), ["-t", "tmpfs", "-o", "size=12m", "tmpfs", data.path], in: scratch)
        try #require(mounted.status == 0, "\(mounted.errors)")
        do {
            try await fillAndFree(data, scratch)
        } catch {
            _ = try await Program.run(URL(filePath: "/bin/umount"), ["-l", data.path], in: scratch)
            throw error
        }
        _ = try await Program.run(URL(filePath: "/bin/umount"), ["-l", data.path], in: scratch)
    }

    /// A limit of the system that leaves too little is named with what is needed, before anything hangs or crashes.
    @Test(
        .timeLimit(.programs),
        arguments: [
            ("ulimit -v 600000", "address space", "ulimit -v unlimited"),
            ("ulimit -d 100000", "of data", "ulimit -d unlimited"),
            ("ulimit -n 32", "32 open files", "ulimit -n 1024"), ("ulimit -n 20", "20 open files", "ulimit -n 1024"),
        ])
    func aLimitThatIsTooLowIsNamed(limit: String, message: String, hint: String) async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let file = scratch.url("EE.mbtiles").path
        for command in [
            "build EE --zoom 0-4 --tileset '\(origin.tileset)' -o '\(file)'",
            "coordinator --data '\(scratch.url("data").path)'", "up --data '\(scratch.url("up").path)'",
        ] {
            let line = "\(limit); exec '\(Program.packhorse.path)' \(command)"
            let outcome = try await Program.run(URL(filePath: "/bin/sh"), ["-c", line], in: scratch)
            #expect(outcome.status == 78, "\(outcome.status) \(outcome.errors)")
            #expect(outcome.errors.contains(message) && outcome.errors.contains(hint), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: file))
        let soft =
            "ulimit -Sn 40; exec '\(Program.packhorse.path)' build EE --zoom 0-4 --tileset '\(origin.tileset)' -o '\(file)'"
        let outcome = try await Program.run(URL(filePath: "/bin/sh"), ["-c", soft], in: scratch)
        #expect(outcome.status == 0, "a soft limit is raised: \(outcome.errors)")
    }

    /// A build waits for space as long as its patience, and names the disk.
    @Test(
        .enabled(if: geteuid() == 0, "skipped: mounting a small disk needs root"), .timeLimit(.programs),
        arguments: ["64k", "160k", "220k", "300k"])
    func aBuildOnAFullDiskWaitsAndNamesTheDisk(size: String) async throws {
        let scratch = try Scratch()
        let origin = try SyntheticOrigin(in: scratch)
        defer { origin.stop() }
        let state = scratch.url("state")
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
        let script = """
            mount -t tmpfs -o size=\(size) tmpfs '\(state.path)' || exit 99
            '\(Program.packhorse.path)' build EE --zoom 0-6 --workers 1 --progress none --tileset '\(origin.tileset)' \
                -o '\(scratch.url("EE.mbtiles").path)' --state '\(state.path)/build' $1 &
            build=$!
            (sleep "$2"; mount -o remount,size=100m '\(state.path)') &
            wait $build
            code=$?
            kill $!
            exit $code
            """
        func build(_ patience: String, roomAfter: String) async throws -> Program.Outcome {
            try await Program.run(
                URL(filePath: "/usr/bin/unshare"),
                ["-m", "sh", "-c", script, "sh", "--patience=\(patience)", roomAfter], in: scratch)
        }
        let refused = try await build("4s", roomAfter: "30")
        #expect(refused.status == 75, "\(refused.status) \(refused.errors)")
        #expect(refused.errors.contains("free space on"), "\(refused.errors)")
        #expect(!refused.errors.contains("check the tile server"), "\(refused.errors)")
        #expect(!refused.errors.contains("may be slow"), "\(refused.errors)")
        #expect(refused.duration > .seconds(4))
        let patient = try await build("2min", roomAfter: "6")
        #expect(patient.status == 0, "\(patient.errors)")
    }

    private func fillAndFree(_ data: URL, _ scratch: Scratch) async throws {
        let origin = try await DemoOrigin(in: scratch)
        let ballast = data.appending(path: "ballast")
        let cluster = try await Cluster(workers: 1, in: scratch, data: data)
        try Data(count: 11 << 20).write(to: ballast)
        let job = try await cluster.submit(["LI", "--tileset", origin.tileset, "--zoom", "0-13", "--timeout", "20"])
        let worker = try #require(cluster.workers.first)
        try await Eventually.holds("the worker says that the disk is full") {
            worker.said.contains("disk-full")
        }
        #expect(try await cluster.status(job).state == "fetching", "a full disk is waited for")
        try FileManager.default.removeItem(at: ballast)
        let outcome = try await cluster.run(["watch", job, "--json", "--progress", "none"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let ended = try Job(json: outcome.output)
        #expect(ended.failed == 0)
        let verified = try await Program.run(["verify", cluster.catalog.path], in: scratch)
        #expect(verified.status == 0, "\(verified.errors)")
        try await cluster.stop()
    }
}
