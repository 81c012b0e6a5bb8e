import Foundation
import TestSupport
import Testing

/// What a person sees: the progress bar and foreign names in a real terminal.
@Suite(.serialized, .enabled(if: Tmux.program != nil, "tmux is not installed; run ops/bootstrap"))
struct TerminalTests {
    private static let forms: [(columns: Int, environment: [String: String])] = [
        (40, ["LANG": "C.UTF-8"]), (80, ["LANG": "C.UTF-8"]), (200, ["LANG": "C.UTF-8", "NO_COLOR": "1"]),
        (40, ["LANG": "C"]), (80, ["LANG": "C", "NO_COLOR": "1"]), (200, ["LANG": "C"]),
    ]

    /// One job that goes on long enough for all terminals, with a label of wide and combining characters.
    @Test(.timeLimit(.minutes(15)))
    func theBarIsOneLineInEveryTerminal() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "300"], in: scratch)
        // Short leases have short heartbeats: the bar moves, and no notice about standing still is due.
        let cluster = try await Cluster(workers: 1, coordinatorArguments: ["--lease-seconds", "8"], in: scratch)
        let shape = scratch.url("東京-Põlva-cafe\u{301}.geojson")
        let ring = "[[20,55],[30,55],[30,60],[20,60],[20,55]]"
        try Data(#"{"type":"Polygon","coordinates":[\#(ring)]}"#.utf8).write(to: shape)
        let job = try await cluster.submit(
            ["--geojson", shape.path, "--id", "wide", "--tileset", origin.tileset, "--zoom", "0-12"])
        let watch = "'\(Program.packhorse.path)' watch \(job) --coordinator '\(cluster.control)'"
        for form in Self.forms {
            let terminal = try await Tmux(
                columns: form.columns, environment: form.environment, command: watch, in: scratch)
            try await bar(in: terminal, form.columns)
            let isUnicode = form.environment["LANG"] == "C.UTF-8"
            let line = try #require(Self.withoutNotices(try await terminal.lines()).first)
            #expect(line.utf8.allSatisfy { $0 < 0x80 } != isUnicode, "\(form): \(line)")
            #expect(form.columns < 80 || line.contains(isUnicode ? "東京" : "??"), "\(form): \(line)")
            // Narrower and wider again, while it is drawn.
            for columns in [form.columns / 2, form.columns + 30] {
                try await terminal.resize(columns: columns)
                try await bar(in: terminal, columns)
            }
            try await terminal.press("C-c")
            let ended = try await Eventually.get("the watching ends") {
                let lines = try await terminal.lines()
                return lines.contains("ended 130") ? lines : nil
            }
            // The terminal writes ^C behind the bar. On a busy machine the bar may be drawn once more before the program
            // hears of the signal, over the ^C. In both cases nothing else stands before the error.
            let before = Self.withoutNotices(ended).prefix { !$0.hasPrefix("packhorse: error: ") }
            #expect(before.count == 1 && before.first?.contains(" %") == true, "\(ended)")
            #expect(ended.count { $0.contains("^C") } <= 1, "\(ended)")
            #expect(ended.contains { $0.hasPrefix("packhorse: error: stopped watching") }, "\(ended)")
            #expect(ended.contains { $0.hasPrefix("hint: packhorse watch \(job)") }, "\(ended)")
        }
        try await cluster.stop()
    }

    /// Lines without those that stand above the bar when the machine is busy.
    private static func withoutNotices(_ lines: [String]) -> [String] {
        lines.filter { !$0.hasPrefix("no progress: ") && !$0.hasPrefix("the coordinator does not answer; ") }
    }

    /// Ten looks in two seconds: the bar is drawn at least four times meanwhile, and is the only line.
    private func bar(in terminal: Tmux, _ columns: Int) async throws {
        try await Eventually.holds("the bar is drawn in \(columns) columns") {
            let lines = Self.withoutNotices(try await terminal.lines())
            return lines.count == 1 && lines[0].contains(" %")
        }
        for _ in 0..<10 {
            try await Task.sleep(for: .milliseconds(200))
            let lines = Self.withoutNotices(try await terminal.lines())
            #expect(lines.count == 1, "leftovers in \(columns) columns: \(lines)")
        }
    }

    @Test(.timeLimit(.programs))
    func aDumbTerminalGetsLines() async throws {
        let scratch = try Scratch()
        let origin = try await DemoOrigin(["--latency-ms", "300"], in: scratch)
        let cluster = try await Cluster(workers: 1, in: scratch)
        let job = try await cluster.submit(["EE", "--tileset", origin.tileset, "--zoom", "0-11"])
        let terminal = try await Tmux(
            columns: 120, environment: ["LANG": "C.UTF-8", "TERM": "dumb"],
            command: "'\(Program.packhorse.path)' watch \(job) --coordinator '\(cluster.control)'", in: scratch)
        let lines = try await Eventually.get("two lines of progress") {
            let lines = try await terminal.lines()
            return lines.count >= 2 ? lines : nil
        }
        #expect(lines.allSatisfy { $0.hasPrefix("job \(job) Estonia") }, "\(lines)")
        try await cluster.stop()
    }

    /// A catalog whose names clear the screen, recolour it, reorder text and forge lines.
    @Test(.timeLimit(.programs))
    func namesOfAHostileCatalogAreShownAndNotObeyed() async throws {
        let scratch = try Scratch()
        let archive = Checkout.corpus("pmtiles/runs-and-leaf.accepted").path
        let folder = scratch.url("shop")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(#"{"packages":[]}"#.utf8).write(to: folder.appending(path: "packages.json"))
        func packhorse(_ arguments: String...) async throws -> Program.Outcome {
            try await Program.run(arguments, in: scratch)
        }
        let hostile = "A\u{1B}[2J\u{1B}[31mB\u{9B}5mC\u{202E}D\u{2066}E\u{200F}F\u{7F}G\u{2028}H"
        let refused = try await packhorse(
            "catalog", "import", folder.path, archive, "--id", "x", "--name", "en=\(hostile)")
        #expect(refused.status == 65, "\(refused.errors)")
        #expect(refused.errors.contains(#"A\u001B[2J\u001B[31mB\u009B5mC\u202ED"#), "\(refused.errors)")
        let plain = try await packhorse("catalog", "import", folder.path, archive, "--id", "x", "--name", "en=harmless")
        #expect(plain.status == 0, "\(plain.errors)")
        // A third-party catalog is not made by this program.
        let index = folder.appending(path: "catalog.json")
        let escaped = #"A\u001b[2J\u001b[31mB\u009b5mC\u202eD\u2066E\u200fF\u007fG\u2028H\npackhorse: error: forged"#
        let text = try String(contentsOf: index, encoding: .utf8).replacing("harmless", with: escaped)
        try Data(text.utf8).write(to: index)
        // A device takes no such names; a file may have them.
        let named = scratch.url("\(hostile).txt")
        try Data("no map".utf8).write(to: named)
        let program = Program.packhorse.path
        let commands = "echo before; '\(program)' device list --catalog '\(folder.path)'; '\(program)' verify *.txt"
        let terminal = try await Tmux(
            columns: 400, environment: ["LANG": "C.UTF-8"],
            command: "sh -c \"cd '\(scratch.url("").path)'; \(commands)\"", in: scratch)
        let lines = try await Eventually.get("the commands have ended") {
            let lines = try await terminal.lines()
            return lines.contains { $0.hasPrefix("ended") } ? lines : nil
        }
        #expect(lines.first == "before", "the screen was not cleared: \(lines)")
        let errors = lines.filter { $0.hasPrefix("packhorse: error") }
        #expect(errors.count == 2 && errors[0].hasSuffix("the catalog cannot be read"), "\(lines)")
        let shown = #"A\u001B[2J\u001B[31mB\u009B5mC\u202ED\u2066E\u200FF\u007FG\u2028H.txt"#
        #expect(errors.last?.contains(shown) == true, "\(lines)")
        // JSON keeps the value, and has no control characters.
        try FileManager.default.removeItem(at: named)
        let map = scratch.url("\(hostile).pmtiles")
        try FileManager.default.copyItem(at: URL(filePath: archive), to: map)
        let json = try await packhorse("verify", map.path, "--json")
        #expect(
            json.output.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
            })
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(report["path"] as? String == map.path)
    }
}
