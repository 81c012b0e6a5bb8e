import CommandSupport
import Telemetry
import Testing
import TextFormats

@testable import Commands

struct ProgressBarTests {
    private let bar = ProgressBar(
        "job 7 Eesti ja Läti", fraction: 0.5,
        facts: ["50 %", "ETA 2 min 5 s", "12,000/24,000 tiles", "345 tiles/s", "1.20 MB"])

    @Test(arguments: [20, 40, 60, 80, 105, 200])
    func theLineFitsWithSpaceForTheEcho(columns: Int) {
        for isUnicode in [true, false] {
            let line = bar.line(columns: columns, isUnicode: isUnicode)
            #expect(DisplayWidth.columns(line) <= columns - 3, "\(line)")
            #expect(line.contains("50 %"), "the most important fact is there: \(line)")
        }
    }

    @Test func aWideTerminalShowsEverything() {
        #expect(
            bar.line(columns: 200, isUnicode: true)
                == "████████████░░░░░░░░░░░░ job 7 Eesti ja Läti · 50 % · ETA 2 min 5 s · 12,000/24,000 tiles · 345 tiles/s · 1.20 MB"
        )
    }

    @Test func withoutUTF8EverythingIsASCII() {
        let line = bar.line(columns: 200, isUnicode: false)
        #expect(line.hasPrefix("############............ job 7 Eesti ja L?ti - 50 %"))
        #expect(line.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func wideCharactersCountTwice() {
        #expect(DisplayWidth.columns("東京 café") == 9)
        #expect(DisplayWidth.columns("e\u{301}") == 1)
        #expect(DisplayWidth.cut("東京都", to: 5) == "東京…")
        let wide = ProgressBar("job 1 " + String(repeating: "東", count: 60), fraction: 0.1, facts: ["10 %"])
        for columns in 20...130 {
            #expect(DisplayWidth.columns(wide.line(columns: columns, isUnicode: true)) <= columns - 3)
        }
    }

    @Test(arguments: [
        (["LC_ALL": "C", "LANG": "en_US.UTF-8"], false), (["LANG": "de_DE.utf8"], true), ([:], false),
        (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true), (["LANG": "POSIX"], false),
    ])
    func theLocaleSaysWhetherThereIsUTF8(environment: [String: String], isUnicode: Bool) {
        #expect(Terminal.isUnicode(environment) == isUnicode)
    }
}

struct EqualCausesTests {
    @Test func oneCauseIsPrintedOnceWithItsNumber() {
        let problems = (1...53).map { "packages/1/P\($0).mbtiles: it is not there [missing-file]" } + ["a: b: c"]
        #expect(
            EqualCauses.lines(problems) == [
                "it is not there [missing-file]: 53 times, such as packages/1/P1.mbtiles, packages/1/P2.mbtiles, packages/1/P3.mbtiles",
                "a: b: c",
            ])
        #expect(EqualCauses.lines(["x: y", "z: y"]) == ["x, z: y"])
        #expect(EqualCauses.lines((1...23).map { "\($0): cause \($0)" }).last == "and 3 other causes")
    }
}
