import Testing
import Tiles

@testable import Scheduling

/// Which batches a package waits for, and how cells are found: against the slow way.
struct PackageNeedsTests {
    private func zooms(_ least: Int, _ most: Int) throws -> ZoomRange { try #require(ZoomRange(min: least, max: most)) }

    private func mask(_ boxes: [(Double, Double, Double, Double)], maxZoom: Int) throws -> TileMask {
        let parts = try boxes.map {
            TileMask(
                covering: MercatorShape(try BoundingBox(west: $0.0, south: $0.1, east: $0.2, north: $0.3)),
                maxZoom: maxZoom)
        }
        return try #require(TileMask(union: parts))
    }

    @Test func aPackageNeedsTheBatchesThatHoldItsTiles() throws {
        let masks = [
            try mask([(20, 55, 30, 60)], maxZoom: 12), try mask([(24, 58, 24.5, 58.5)], maxZoom: 12),
            try mask([(29, 59, 35, 62), (-10, 35, -9, 36)], maxZoom: 12),
        ]
        let union = try #require(TileMask(union: masks))
        var cells = BatchPlanner(mask: union, zooms: try zooms(0, 12)).batches().map(\.cell)
        // Children of a batch that was split later.
        cells += cells.last?.children ?? []
        let needs = PackageNeeds(masks: masks, cells: cells)
        #expect(cells.count > 60)
        for (index, cell) in cells.enumerated() {
            let served = needs.served(by: BatchIndex(index)).map(\.number)
            #expect(served == masks.indices.filter { masks[$0].contains(cell) }, "\(cell)")
        }
    }

    @Test func openBatchesAreCounted() {
        var needs = PackageNeeds(packages: 2, batches: 3)
        needs.recount { $0 == BatchIndex(1) }
        #expect(needs.open.elements == [2, 2])
        needs.update(BatchIndex(0), isSettled: true)
        #expect(needs.takeClosed() == [])
        needs.append(childOf: BatchIndex(2))
        needs.update(BatchIndex(2), isSettled: true)
        #expect(needs.takeClosed() == [], "the appended batch is open")
        needs.update(BatchIndex(3), isSettled: true)
        #expect(needs.takeClosed().map(\.number) == [0, 1])
        #expect(needs.takeClosed() == [])
        needs.update(BatchIndex(1), isSettled: false)
        #expect(needs.isOpen(PackageIndex(0)))
        needs.update(BatchIndex(1), isSettled: true)
        #expect(needs.takeClosed().map(\.number) == [0, 1])
    }

    @Test func cellsAboveAndBelowAreFoundByHalving() throws {
        let union = try mask([(20, 55, 30, 60)], maxZoom: 14)
        var cells = BatchPlanner(mask: union, zooms: try zooms(0, 14)).batches().map(\.cell)
        cells += [cells[40], cells[7]].flatMap(\.children)
        let runs = CellRuns(cells)
        #expect(runs.runs.count < 10)
        let asked = cells + cells.flatMap(\.children) + cells.compactMap(\.parent) + [TileID.root]
        for wanted in asked {
            let naive = cells.indices.filter { cells[$0].contains(wanted) || wanted.contains(cells[$0]) }
            let found = runs.touching(wanted) { cells[$0] }
            #expect(found.sorted() == naive, "\(wanted)")
            #expect(
                found.first.map { cells[$0].zoom == wanted.zoom || !naive.contains { cells[$0] == wanted } } ?? true)
        }
    }
}
