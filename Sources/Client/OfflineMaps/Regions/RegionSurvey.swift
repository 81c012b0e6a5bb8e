internal import Foundation
internal import Tiles

/// Says how far a region is, from what is installed and what its last plan found.
struct RegionSurvey: Sendable {
    var id: RegionID
    var row: RegionRow
    var rows: StoreRows
    /// The task that works on it, or that failed.
    var task: StoreTask?
    /// The time that expiries are compared with.
    var now = Date()

    /// The region as it is now.
    func info() -> RegionInfo {
        let holder = Item.region(id)
        let held = Set(rows.holds.filter { $0.item == holder }.map(\.key))
        let here = rows.files.values.filter { $0.state == .current && held.contains($0.id.key) }
            .sorted { $0.order < $1.order }
        let names = Set(here.map(\.id.key.name))
        let lacking = (row.needs?.units ?? []).filter { !names.contains($0) }
        let tiles = here.filter { $0.mask != nil }
        let covered = tiles.reduce(TileMask(empty: 0)) { $0.union($1.mask ?? $0) }
        let expires = here.compactMap(\.expires).min().map { Date(timeIntervalSince1970: Double($0)) }
        let cause: FailureCause? = if case .failed(let cause)? = task?.state { cause } else { nil }
        let isDamaged = lacking.contains { name in held.contains { $0.name == name } }
        var (missing, failed) = (row.needs?.missing ?? [], [Missing]())
        if let progress = task?.progress, cause != nil {
            for (what, counts) in [
                ("tile packs", progress.packs), ("tiles", progress.tiles), ("resources of styles", progress.resources),
            ] where counts.failed > 0 { failed.append(Missing(what, cause: cause, count: counts.failed)) }
        }
        if let cause, failed.isEmpty { failed.append(Missing("download", cause: cause)) }
        missing += Self.summary(of: lacking)
        if row.needs == nil { missing += row.definition.sources.map { Missing($0.name) } }
        return RegionInfo(
            id: id, definition: row.definition, context: row.context,
            state: state(lacking: lacking, isDamaged: isDamaged, hasFailed: cause != nil, expires: expires),
            progress: task?.progress ?? progress(here, lacking: lacking), bytes: here.reduce(0) { $0 + $1.bytes },
            covered: covered, zooms: Self.zooms(tiles) ?? row.definition.zooms, expires: expires, missing: missing,
            failed: failed)
    }

    private func state(lacking: [String], isDamaged: Bool, hasFailed: Bool, expires: Date?) -> RegionState {
        if let task, !hasFailed, !task.state.isOver { return .loading }
        if hasFailed { return .incomplete }
        guard let needs = row.needs else { return .registered }
        if isDamaged { return .damaged }
        guard lacking.isEmpty, !needs.units.isEmpty else { return .incomplete }
        return expires.map { $0 < now } ?? false ? .stale : .complete
    }

    /// The zooms of all files together.
    private static func zooms(_ units: [InstalledFile]) -> ZoomRange? {
        let all = units.compactMap(\.zooms)
        guard let low = all.map(\.min).min(), let high = all.map(\.max).max() else { return nil }
        return ZoomRange(min: low, max: high)
    }

    private func progress(_ here: [InstalledFile], lacking: [String]) -> TaskProgress {
        // As a task counts: what was filled by its tiles and resources, other packs and files one by one.
        var progress = TaskProgress()
        let (tiles, resources) = (rows.tiles[.region(id)] ?? 0, row.needs?.resources ?? 0)
        let isThere = lacking.isEmpty
        (progress.tiles.required, progress.tiles.completed) = (tiles, isThere ? tiles : 0)
        (progress.resources.required, progress.resources.completed) = (resources, isThere ? resources : 0)
        for installed in here {
            if installed.id.key.isPack, installed.template != nil {
                progress.tiles.bytes += installed.bytes
            } else if installed.id.key.isPack {
                progress.packs.add(1, bytes: installed.bytes)
            } else if installed.format == .styleArchive {
                progress.resources.bytes += installed.bytes
            } else {
                progress.resources.add(1, bytes: installed.bytes)
            }
        }
        progress.packs.required += UInt64(
            lacking.count { InstalledFileKey(name: $0, isPack: true).pack.map { !$0.isFilled } ?? false })
        progress.resources.required += UInt64(lacking.count { $0.hasPrefix("package|") })
        let all = here.count + lacking.count
        progress.fraction = all == 0 ? 0 : Double(here.count) / Double(all)
        progress.isPrecise = row.needs != nil
        return progress
    }

    /// Names what lacks by kind, and not pack by pack.
    private static func summary(of lacking: [String]) -> [Missing] {
        let packs = lacking.filter { $0.hasPrefix("pack|") }
        var missing: [Missing] = []
        if !packs.isEmpty { missing.append(Missing("tile packs", count: UInt64(packs.count))) }
        for name in lacking where !name.hasPrefix("pack|") {
            missing.append(Missing(Item(key: name)?.identifier ?? name))
        }
        return missing
    }
}

extension SourceDescriptor {
    /// The name for people: the tileset, the address of the style, or the server's name.
    var name: String {
        switch self {
        case .tileset(let id, _): id
        case .style(let url): url.absoluteString
        case .online(let source): source.id
        }
    }

    /// Whether the plan of a region with this source asks the server.
    var plansOnline: Bool {
        switch self {
        case .tileset, .style: true
        case .online: false
        }
    }
}
