import Foundation
import StyleFormat
import Testing

@testable import OfflineMaps

/// Paths from unit files and style packs.
struct StorePathTests {
    @Test(arguments: ["../\u{301}x", "a/..", "a//b", "..", "./x", ""])
    func aPathThatLeavesItsFolderIsRefused(_ path: String) {
        #expect(StoreFolder(URL(filePath: "/store")).file(path) == nil)
        #expect(!PackPath.isInside(path))
    }

    @Test func aPathInsideIsAccepted() {
        #expect(StoreFolder(URL(filePath: "/store")).file("units/a/EE.mbtiles")?.path == "/store/units/a/EE.mbtiles")
        #expect(PackPath.isInside("glyphs/a/0-255.pbf"))
    }
}
