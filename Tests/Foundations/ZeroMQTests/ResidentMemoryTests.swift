import Testing

@testable import ZeroMQ

struct ResidentMemoryTests {
    @Test func thisProcessTakesMemory() {
        // A Swift process has megabytes; less than all of a 64-bit machine's.
        #expect((1 << 20...1 << 46).contains(ResidentMemory().bytes))
    }

    @Test(arguments: [
        ("8123 1507 901 30 0 77 0\n", 1_507), ("1 2", 2), ("1 99999999999999 ", 99_999_999_999_999),
        ("1 999999999999999 ", 0), ("", 0), ("12", 0), ("12 ", 0), ("12  3", 0), ("12 x3 4", 0), ("12 -3 4", 0),
    ])
    func theSecondNumberIsRead(line: String, pages: Int64) {
        let found = Array(line.utf8).withUnsafeBytes { ResidentMemory.pages($0) }
        #expect(found == pages)
    }
}
