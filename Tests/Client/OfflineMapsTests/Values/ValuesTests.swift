import Foundation
import Testing
import Tiles

@testable import OfflineMaps

@Suite struct ValuesTests {
    private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws -> Bool {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value)) == value
    }

    @Test func durableValuesSurviveCoding() throws {
        let items: [Item] = [
            .package("EE", Edition(group: "terrain", language: "de"), .pmtiles), .packs("EE"), .region("trip"),
            .style("s"),
        ]
        #expect(try roundTrip(items))
        var rule = TaskRule()
        rule.startAt = Coordinate(longitude: 24.7, latitude: 59.4)
        rule.network = .notExpensive
        #expect(
            try roundTrip(TaskRecord(id: TaskID(number: 3), kind: .load, items: items, rule: rule, failure: .badBytes)))
        #expect(try roundTrip(TaskState.paused(.quota(needed: 2, allowed: 1))))
        #expect(try roundTrip(TaskState.waiting(.server(.seconds(90)))))
    }

    @Test func aRegionSurvivesCoding() throws {
        let zooms = try #require(ZoomRange(min: 0, max: 3))
        let mask = TileMask(full: 3)
        for area in [
            Area.box(try BoundingBox(west: 1, south: 2, east: 3, north: 4)), .mask(mask),
            .geometry(
                Geometry(lines: [[Coordinate(longitude: 1, latitude: 2), Coordinate(longitude: 3, latitude: 4)]])),
            .around([Coordinate(longitude: 1, latitude: 2)], meters: 500),
        ] {
            let region = RegionDefinition(
                area, zooms: zooms, sources: [.tileset("EE"), .online(OnlineSource(id: "o", template: "http://h/{z}"))])
            let data = try JSONEncoder().encode(region)
            let back = try JSONDecoder().decode(RegionDefinition.self, from: data)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            #expect(try encoder.encode(back) == encoder.encode(region))
        }
    }

    @Test func theQuotaEvictsFromTheShare() {
        var quota = Quota()
        #expect(quota.evictionStart == nil)
        quota.bytes = 100
        #expect(quota.evictionStart == 50)
        quota.evictFrom = 7
        #expect(quota.evictionStart == 100)
    }
}
