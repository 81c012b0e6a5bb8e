import CommandSupport
import Commands
import Errors
import Testing
import TextFormats
import Tiles

struct UnitsTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (12_345, "12.3 kB"), (7_200_000, "7.20 MB"),
        (5_000_000_000, "5.00 GB"),
    ])
    func bytesHaveDecimalUnits(count: UInt64, text: String) {
        #expect(Units.bytes(count) == text)
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")])
    func countsAreGrouped(count: UInt64, text: String) {
        #expect(Units.count(count) == text)
    }

    @Test(arguments: [
        (0.2, "under 1 s"), (59, "59 s"), (125, "2 min 5 s"), (11_400, "3 h 10 min"), (Double.infinity, "unknown"),
        (880_920, "10 days 4 h"), (172_800, "2 days 0 h"), (172_799, "47 h 59 min"),
    ])
    func durationsUseTheTwoLargestUnits(seconds: Double, text: String) {
        #expect(Units.duration(seconds: seconds) == text)
    }

    @Test(arguments: [("2km", 2000), ("500", 500), ("500 m", 500), ("1.5mi", 2414.016)])
    func distancesAreRead(text: String, meters: Double) throws {
        #expect(abs(try Units.meters(text) - meters) < 0.001)
    }

    @Test(arguments: ["", "km", "-2km", "0", "two", "1e9km", "nan"])
    func otherDistancesAreRefusedByName(text: String) {
        #expect { try Units.meters(text) } throws: { ($0 as? CLIError)?.status == .usage }
    }

    @Test func aDecimalCommaIsNamed() {
        for text in ["1,5km", "1,5 km", "0,5mi"] {
            let told = "'\(text)' has a comma; write decimals with a point: 1.5km"
            #expect { try Units.distance(text, as: "radius", limit: 10_000_000) } throws: {
                ($0 as? Units.DistanceProblem)?.message == "radius \(told)"
            }
            #expect { try Margin(parsing: text) } throws: { ($0 as? TilesError)?.message == "margin \(told)" }
        }
    }

    @Test func aDistanceOutOfRangeNamesTheRange() {
        for text in ["20000km", "-1m", "10001km"] {
            #expect {
                try Units.distance(text, as: "margin", limit: 10_000_000, takesZero: true)
            } throws: {
                ($0 as? Units.DistanceProblem)?.message == "margin '\(text)' is out of range; expected 0 to 10000 km"
            }
        }
    }

    @Test(arguments: [
        ("50GB", 50_000_000_000), ("1.5 tb", 1_500_000_000_000), ("800mb", 800_000_000), ("0", 0), ("12", 12),
        ("7B", 7), ("2kB", 2_000),
    ])
    func sizesAreRead(text: String, bytes: UInt64) { #expect(Units.size(text) == bytes) }

    @Test(arguments: ["", "GB", "-1GB", "1e9", "nan", "1.2.3MB", "99999999TB", "5 GiB"])
    func otherSizesAreRefused(text: String) { #expect(Units.size(text) == nil) }

    @Test(arguments: [
        ("90s", 90), ("5m", 300), ("1h30m", 5_400), ("2 d", 172_800), ("45", 45), ("1.5h", 5_400),
        ("3 min 20 sec", 200),
        ("5:00", 300), ("12:00:00", 43_200), ("1-02:00:00", 93_600), ("0", 0),
    ])
    func durationsAreRead(text: String, seconds: Double) { #expect(Units.seconds(text) == seconds) }

    @Test(arguments: [
        "", "m", "-5m", "5ms", "1m30", "30m1h", "nan", "1:2:3:4", "1-5:00", "UNLIMITED", "1e9s", "99999d", ":", "5:",
    ])
    func otherDurationsAreRefused(text: String) { #expect(Units.seconds(text) == nil) }

    @Test func countsTakeTheNounThatBelongsToThem() {
        #expect(Units.count(1, of: "package") == "1 package")
        #expect(Units.count(UInt64(1_000), of: "batch") == "1,000 batches")
        #expect(Units.count(0, of: "tile") == "0 tiles")
        #expect(Units.count(-1_234) == "-1,234")
    }

    @Test func cellsOfATableAreOneLineAndPaddedByColumns() {
        var table = Table("name", "tiles")
        table.add("東京\n\u{1B}[2J", "9")
        table.add("LV", "10")
        // Each wide character fills two columns: 15 in all.
        let gap = { String(repeating: " ", count: $0) }
        #expect(
            table.lines == [
                "NAME\(gap(11))  TILES", "東京\\n\\u001B[2J  \(gap(4))9", "LV\(gap(13))  \(gap(3))10",
            ])
    }

    @Test(arguments: [(18, [] as [String]), (17, ["tiles"]), (11, ["tiles"]), (10, ["tiles", "state"])])
    func columnsWithoutRoomAreLeftOut(width: Int, hidden: [String]) {
        var table = Table("name", "", "state", "tiles")
        table.add("LV", "-", "a", "10")
        let shown = table.lines(within: width, lessNeeded: ["tiles", "state"])
        #expect(shown.hidden == hidden)
        #expect(shown.lines[1] == ["LV    a         10", "LV    a", "LV"][hidden.count])
    }

    @Test func columnsArePaddedAndNumbersAlignRight() {
        var table = Table("name", "tiles")
        table.add("Estonia", "9")
        table.add("LV", "1,234")
        #expect(table.lines == ["NAME     TILES", "Estonia      9", "LV       1,234"])
    }

    @Test(arguments: [
        ("There is no region 'XX'.", "there is no region 'XX'"), ("GeoJSON is broken.", "GeoJSON is broken"),
        ("wait...", "wait..."), ("", ""), ("'a' is B.", "'a' is B"),
    ])
    func aMessageInsideOfAnotherIsNoSentence(text: String, inner: String) {
        #expect(Sentence.inner(text) == inner)
        #expect(CLIError.oneLine(text) == inner)
    }

    @Test func aThingIsNamedOnce() {
        #expect(Sentence.unreadable("a.mbtiles", "No index.") == "'a.mbtiles' cannot be read: no index")
        let whole = "'a.mbtiles' has no index; make one."
        #expect(Sentence.unreadable("a.mbtiles", whole) == whole)
    }

    @Test func wordsHaveTheirArticle() {
        let words = ["mbtiles", "mbtiles-flat", "pmtiles", "carto", "avif", "mvt", "pbf", "webp", "offline database"]
        #expect(words.map(Sentence.article) == ["an", "an", "a", "a", "an", "an", "a", "a", "an"])
        #expect(Units.count(1, of: "byte") == "1 byte" && Units.count(2, of: "batch") == "2 batches")
    }
}
