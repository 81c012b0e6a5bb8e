internal import Foundation

/// Decides what a task has to download, from the catalog, the rows and the disk of the moment.
///
/// It changes nothing on disk. It sends requests only for lists of tile packs and for what a region's style needs; every
/// request of a download is left to the caller, without the app's changes of ``StoreOptions/transform``.
struct Planner: Sendable {
    typealias Transform = @Sendable (ResourceRequest) async -> ResourceRequest

    let folder: StoreFolder
    let fetcher: any Fetcher
    let transform: Transform?
    /// The style of regions that name none.
    let defaultStyle: URL?
    /// The addresses of the catalog; without them only that of the file is asked.
    let servers: CatalogServers
    let packLists = PackListCache()

    init(
        folder: StoreFolder, fetcher: any Fetcher, transform: Transform?, defaultStyle: URL?,
        servers: CatalogServers = CatalogServers(nil)
    ) {
        (self.folder, self.fetcher, self.transform, self.defaultStyle) = (folder, fetcher, transform, defaultStyle)
        self.servers = servers
    }

    /// Plans a task; a task that fails before its first byte gets its cause.
    func plan(_ task: TaskRecord, _ view: PlanView) async -> DetailedPlan {
        var draft = PlanDraft()
        do throws(PlanProblem) {
            if let viewed = task.viewed { try await addPack(viewed, task, in: view, to: &draft) }
            for item in task.items { try await add(item, task, in: view, to: &draft) }
        } catch {
            switch error {
            case .failed(let cause, let text): return DetailedPlan(answer: .failed(cause), text: text)
            case .fault(let fault): return DetailedPlan(answer: .fault(fault))
            }
        }
        draft.keepNewestPacks()
        return DetailedPlan(answer: .plan(draft.plan), needs: draft.needs)
    }

    private func add(
        _ item: Item, _ task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) async throws(PlanProblem) {
        switch item {
        case .package(let id, let edition, let format):
            try addPackage(id, edition, format: format, for: task, in: view, to: &draft)
        case .style(let id): try addStyle(id, for: task, view, to: &draft)
        case .packs(let id, let edition): try await addPacks(id, edition, for: task, in: view, to: &draft)
        case .region(let id): try await addRegion(id, task, in: view, to: &draft)
        }
    }
}

/// A plan that is being made.
struct PlanDraft {
    var plan = Plan(downloads: [])
    var needs: [RegionID: RegionNeeds] = [:]
    /// What the region that is being added cannot get.
    var missing: [Missing] = []
    /// How many resources the styles of the region that is being added have.
    var resources: UInt64 = 0

    /// Adds a download; the same file for another holder is a download of its own.
    mutating func add(_ download: DownloadItem, _ its: DownloadDetails) {
        guard !plan.downloads.contains(where: { $0.file == download.file && $0.holder == download.holder }) else {
            return
        }
        plan.downloads.append(download)
        plan.downloads[plan.downloads.count - 1].details = its
    }
}

extension PlanDraft {
    /// Takes the newest of several states of one pack, which lists of several packages have.
    mutating func keepNewestPacks() {
        var newest: [InstalledFileKey: DownloadItem] = [:]
        for download in plan.downloads {
            guard let age = download.age else { continue }
            let replaces = newest[download.file.key]?.age.map { age.replaces($0, isShared: true) } ?? true
            if replaces { newest[download.file.key] = download }
        }
        for (number, download) in plan.downloads.enumerated() where download.age != nil {
            guard var best = newest[download.file.key], best.file != download.file else { continue }
            best.holder = download.holder
            plan.downloads[number] = best
        }
    }
}

/// Why there is no plan.
enum PlanProblem: Error {
    /// `text`: what is wrong and what to do, where more is known than the cause.
    case failed(FailureCause, text: String? = nil)
    case fault(FetchFault)
}
