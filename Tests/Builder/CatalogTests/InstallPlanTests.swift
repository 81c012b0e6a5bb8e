import Foundation
import Testing

@testable import Catalog
@testable import CatalogFormat

struct InstallPlanTests {
    private let version = CatalogIndex.Version(
        version: 4, tileMask: "QAAA:0", tilesHash: "", tileset: nil, minZoom: nil, maxZoom: nil, attribution: nil,
        dataDate: nil,
        files: [
            .init(format: "mbtiles", url: "packages/4/EE.mbtiles", size: 1_000, sha256: "new"),
            .init(format: "pmtiles", url: "packages/4/EE.pmtiles", size: 900, sha256: "pm"),
        ],
        patches: [
            .init(from: 3, url: "patches/EE/3-4.mbtiles", size: 699, sha256: "p3"),
            .init(from: 2, url: "patches/EE/2-4.mbtiles", size: 700, sha256: "p2"),
        ])

    @Test func whoHasItFetchesNothing() {
        #expect(InstallPlan(to: version, format: "mbtiles", having: "new", installed: 4) == .upToDate)
        // Equal bytes are equal, independent of the recorded version.
        #expect(InstallPlan(to: version, format: "mbtiles", having: "new", installed: 3) == .upToDate)
        #expect(InstallPlan.upToDate.bytes(of: version.files[0]) == 0)
    }

    @Test func aPatchIsTakenWhenItPays() throws {
        let plan = try #require(InstallPlan(to: version, format: "mbtiles", having: "old", installed: 3))
        #expect(plan == .patch(version.patches[0]) && plan.bytes(of: version.files[0]) == 699)
        #expect(InstallPlan(to: version, format: "mbtiles", having: "old", installed: 2) == .whole)
        #expect(InstallPlan(to: version, format: "mbtiles", having: "old", installed: 1) == .whole)
        #expect(InstallPlan(to: version, format: "mbtiles", having: "changed by hand", installed: nil) == .whole)
        #expect(InstallPlan(to: version, format: "mbtiles", having: nil, installed: 3) == .whole)
    }

    @Test func otherFormatsHaveNoPatches() {
        #expect(InstallPlan(to: version, format: "pmtiles", having: "old", installed: 3) == .whole)
        #expect(InstallPlan.whole.bytes(of: version.files[1]) == 900)
        #expect(InstallPlan(to: version, format: "carto", having: nil, installed: nil) == nil)
    }
}
