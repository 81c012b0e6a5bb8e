/// The next step of a download.
enum DownloadStep: Hashable, Sendable {
    /// Its file is current and held, or its tile is there.
    case done
    /// It was given up.
    case failed
    /// An operation works on its bytes, of this task or of another.
    case underWay(isFetch: Bool)
    /// A download can begin.
    case fetch
    case patch, verify, prepare
    /// Its file is at its place.
    case swap
    /// It waits for tiles of its pack, or until an earlier file of its name is gone.
    case wait

    var isOpen: Bool { self != .done && self != .failed }
    /// Whether it is a step that needs no network and can be taken now.
    var isLocal: Bool {
        switch self {
        case .patch, .verify, .prepare, .swap: true
        default: false
        }
    }
    /// Whether a request is needed before the download can be prepared.
    var needsNetwork: Bool { self == .fetch || self == .underWay(isFetch: true) }
}

/// A plan with the next step of each of its downloads and their sums, so that an event costs as much as it changes.
struct TaskPlan: Sendable {
    /// A pack that is filled, and its tiles.
    struct Fill: Sendable {
        var filled: Int?
        var digest = ""
        var tiles: [Int] = []
        /// How many of the tiles are open.
        var open = 0
    }
    /// What is known of a download; `cost` and `there` are bytes of its download.
    struct State: Hashable, Sendable {
        var step = DownloadStep.wait
        /// SHA-256 of the patch that it is made from.
        var patch: String?
        var cost: UInt64 = 0
        var there: UInt64 = 0
    }

    let downloads: [DownloadItem]
    let onlineTiles: UInt64
    let released: Set<Hold>
    /// Whether all files become current in one transaction.
    let swapsTogether: Bool
    private(set) var failed: [FileID: FailureCause]
    private(set) var states: [State]
    private(set) var fills: [InstalledFileKey: Fill] = [:]
    /// How many downloads are open, wait for the swap, need the network.
    private(set) var open: Int
    private(set) var swaps = 0
    private(set) var network = 0
    private(set) var networkTiles = 0
    /// Numbers of the downloads whose next step is local.
    private(set) var local: Set<Int> = []
    /// All downloads before are not open.
    private(set) var firstOpen = 0
    private var sums: TaskProgress
    /// Bytes of single tiles and resources, which are known when they are there.
    private var sizes: [Int: UInt64] = [:]
    /// Bytes of all downloads, and those that are there.
    private(set) var cost: UInt64 = 0
    private(set) var there: UInt64 = 0

    /// Begins with all downloads open.
    init(_ plan: Plan) {
        (downloads, onlineTiles, failed) = (plan.downloads, plan.onlineTiles, plan.failed)
        released = plan.released
        swapsTogether = plan.swapsTogether
        states = Array(repeating: State(), count: plan.downloads.count)
        open = plan.downloads.count
        sums = plan.present
        for (number, download) in plan.downloads.enumerated() {
            if let counts = download.counts { sums[keyPath: counts].required += 1 }
            if download.isTile {
                fills[download.file.key, default: Fill()].tiles.append(number)
                fills[download.file.key]?.open += 1
            } else if download.source == .filled {
                fills[download.file.key, default: Fill()].filled = number
                fills[download.file.key]?.digest = download.file.digest
            }
        }
    }

    /// The progress of the moment.
    var progress: TaskProgress {
        var progress = sums
        progress.fraction = cost == 0 ? 0 : Double(there) / Double(cost)
        return progress
    }

    /// The numbers of the open downloads from the first on.
    var openNumbers: some Sequence<Int> {
        (firstOpen..<downloads.count).lazy.filter { states[$0].step.isOpen }
    }

    mutating func fail(_ file: FileID, _ cause: FailureCause) { failed[file] = cause }

    /// Notes the bytes of a single tile or resource, before it is noted as there.
    mutating func setSize(_ number: Int, _ bytes: UInt64) {
        if states[number].step != .done { sizes[number] = bytes }
    }

    /// Changes what is known of a download.
    ///
    /// Returns the number of a pack whose last open tile has ended, or that has an open tile again.
    mutating func set(_ number: Int, _ new: State) -> Int? {
        let old = states[number]
        guard old != new else { return nil }
        count(number, old, adds: false)
        states[number] = new
        count(number, new, adds: true)
        if new.step.isOpen { firstOpen = min(firstOpen, number) }
        while firstOpen < downloads.count, !states[firstOpen].step.isOpen { firstOpen += 1 }
        guard downloads[number].isTile, old.step.isOpen != new.step.isOpen else { return nil }
        let key = downloads[number].file.key
        fills[key]?.open += new.step.isOpen ? 1 : -1
        return fills[key].flatMap { $0.open <= 1 ? $0.filled : nil }
    }

    private mutating func count(_ number: Int, _ state: State, adds: Bool) {
        let download = downloads[number]
        let sign = adds ? 1 : -1
        if state.step.isOpen { open += sign }
        if state.step == .swap { swaps += sign }
        if state.step.needsNetwork {
            network += sign
            if download.isTile { networkTiles += sign }
        }
        if state.step.isLocal {
            if adds { local.insert(number) } else { local.remove(number) }
        }
        if let counts = download.counts {
            if state.step == .done {
                sums[keyPath: counts].completed.add(1, adds)
                sums[keyPath: counts].bytes.add(sizes[number] ?? download.size, adds)
            }
            if state.step == .failed { sums[keyPath: counts].failed.add(1, adds) }
        }
        cost.add(state.cost, adds)
        there.add(state.there, adds)
    }
}

extension UInt64 {
    fileprivate mutating func add(_ value: UInt64, _ adds: Bool) { if adds { self += value } else { self -= value } }
}

extension DownloadItem {
    /// Where the download is counted; what is filled counts by its tiles and resources.
    fileprivate var counts: WritableKeyPath<TaskProgress, Counts>? {
        source == .filled ? nil : !file.key.isPack ? \.resources : isTile ? \.tiles : \.packs
    }
}
