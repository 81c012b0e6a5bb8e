public import Tiles

/// The batches that each package of a job waits for, and how many of them are open.
///
/// Many batches serve the same packages: a batch stores four bytes, the number of its group; a group is a list of
/// packages. When a batch reaches a final state or is opened again, only the packages that it serves are updated. Not
/// stored: computed from the masks at submission and at a start.
public struct PackageNeeds: Hashable, Sendable {
    /// The packages of each group, ascending.
    private var groups: [[PackageIndex]]
    /// The group of each batch.
    private var groupOfBatch: PlacedList<BatchIndex, UInt32>
    /// Batches of each package that are not in a final state.
    private(set) var open: PlacedList<PackageIndex, Int>
    /// Packages whose last open batch has ended since ``takeClosed()``.
    private var closed: [PackageIndex] = []

    /// Every package needs every batch: correct for one package, and safe for any number.
    public init(packages: Int, batches: Int) {
        groups = [(0..<packages).map(PackageIndex.init)]
        groupOfBatch = PlacedList(repeating: 0, count: batches)
        open = PlacedList(repeating: 0, count: packages)
    }

    /// A package needs the batches whose cell is in its mask.
    ///
    /// Costs one pass over each mask at the zooms of the cells. The cells are in runs of one zoom along the Hilbert
    /// curve.
    ///
    /// - Parameters:
    ///   - masks: The masks of the packages, in the order of the packages.
    ///   - cells: The cells of the batches, in the order of the batches.
    public init(masks: [TileMask], cells: [TileID]) {
        self.init(packages: masks.count, batches: cells.count)
        guard masks.count > 1 else { return }
        var served = [[PackageIndex]](repeating: [], count: cells.count)
        let runs = CellRuns(cells)
        for (number, mask) in masks.enumerated() {
            let package = PackageIndex(number)
            for run in runs.runs where run.indices.count < 16 {
                for index in run.indices where mask.contains(cells[index]) { served[index].append(package) }
            }
            for run in runs.runs where run.indices.count >= 16 {
                var index = run.indices.lowerBound
                for tile in mask.tiles(atZoom: run.zoom, under: .root) {
                    while index < run.indices.upperBound, cells[index] < tile { index += 1 }
                    guard index < run.indices.upperBound else { break }
                    if cells[index] == tile { served[index].append(package) }
                }
            }
        }
        var numbers: [[PackageIndex]: UInt32] = [:]
        groups = []
        for index in cells.indices {
            let number = numbers[served[index], default: UInt32(groups.count)]
            if Int(number) == groups.count {
                groups.append(served[index])
                numbers[served[index]] = number
            }
            groupOfBatch[BatchIndex(index)] = number
        }
    }

    /// The number of packages.
    public var packages: Int { open.count }
    /// The number of batches.
    public var batches: Int { groupOfBatch.count }

    /// The packages that a batch serves, ascending.
    func served(by batch: BatchIndex) -> [PackageIndex] {
        groupOfBatch.indices.contains(batch) ? groups[Int(groupOfBatch[batch])] : []
    }

    /// Whether a package still waits for a batch.
    func isOpen(_ package: PackageIndex) -> Bool { open.indices.contains(package) && open[package] > 0 }

    /// Appends a batch that serves the same packages as `parent`.
    ///
    /// It counts as open.
    mutating func append(childOf parent: BatchIndex) {
        guard groupOfBatch.indices.contains(parent) else { return }
        groupOfBatch.append(groupOfBatch[parent])
        for package in served(by: parent) { open[package] += 1 }
    }

    /// Appends a batch that serves some of the packages that `parent` serves.
    ///
    /// It counts as open.
    mutating func append(childOf parent: BatchIndex, for packages: [PackageIndex]) {
        guard groupOfBatch.indices.contains(parent) else { return }
        let all = served(by: parent)
        let wanted = packages.count < all.count ? all.filter(Set(packages).contains) : all
        if wanted == all { return append(childOf: parent) }
        let group = groups.firstIndex(of: wanted) ?? groups.count
        if group == groups.count { groups.append(wanted) }
        groupOfBatch.append(UInt32(group))
        for package in wanted { open[package] += 1 }
    }

    /// Recomputes all counts: batches for which `isSettled` is false are open.
    ///
    /// Every package without an open batch counts as newly closed.
    mutating func recount(_ isSettled: (BatchIndex) -> Bool) {
        var inGroup = [Int](repeating: 0, count: groups.count)
        for index in groupOfBatch.indices where !isSettled(index) { inGroup[Int(groupOfBatch[index])] += 1 }
        open = PlacedList(repeating: 0, count: open.count)
        for (group, count) in inGroup.enumerated() {
            for package in groups[group] { open[package] += count }
        }
        closed = open.indices.filter { open[$0] == 0 }
    }

    /// Records that a batch has reached a final state, or is open again.
    mutating func update(_ batch: BatchIndex, isSettled: Bool) {
        guard groupOfBatch.indices.contains(batch) else { return }
        for package in groups[Int(groupOfBatch[batch])] {
            open[package] += isSettled ? -1 : 1
            if isSettled, open[package] == 0 { closed.append(package) }
        }
    }

    /// The packages whose last open batch has ended since the last call, in that order.
    mutating func takeClosed() -> [PackageIndex] {
        guard !closed.isEmpty else { return [] }
        defer { closed = [] }
        return closed.filter { open[$0] == 0 }
    }
}
