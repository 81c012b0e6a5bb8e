import PackageFiles
import Testing

struct DataDateTests {
    // By GNU date: date -u -d TEXT +%s
    @Test(
        arguments: [
            ("1970-01-01", 0), ("1970-01-02", 86_400), ("2000-03-01", 951_868_800), ("2026-10-01", 1_790_812_800),
            ("2096-02-29", 3_981_312_000), ("1969-12-31", -86_400), ("1950-06-15", -616_896_000),
            ("2026-11-01T12:00:00Z", 1_793_534_400), ("2026-11-01T14:00:00+02:00", 1_793_534_400),
            ("2026-10-31T23:30:00-12:30", 1_793_534_400),
        ] as [(String, Int64)])
    func aDateIsANumberOfSeconds(_ text: String, _ seconds: Int64) {
        #expect(DataDate.seconds(text) == seconds)
    }

    @Test(
        arguments: [
            "", "2026", "2026-13-01", "2026-02-29", "2026-02-30", "2026-1-01", "0000-01-01", "2026-10-00", "２026-10-01",
            "2026-10-01T", "2026-10-01T12:00:00", "2026-10-01T24:00:00Z", "2026-10-01T12:00Z", "2026-10-01 12:00:00Z",
            "2026-10-01T12:00:00+2", "2026-10-01Z", "2026-10-01T12:00:00Zx",
        ])
    func whatIsNoDateIsNoNumber(_ text: String) {
        #expect(DataDate.seconds(text) == nil)
    }
}
