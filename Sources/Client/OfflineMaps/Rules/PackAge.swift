/// How new the tiles of a shared pack are, and which list said so.
///
/// Lists of two packages can have the same pack in two states, because a list is only cut again with its package.
struct PackAge: Hashable, Codable, Sendable {
    /// The date of the data, as the catalog writes it; empty where it says none.
    var date: String
    /// The packs of the package whose list has it.
    var source: Item

    /// Whether a pack of this age takes the place of another one.
    ///
    /// What the same list has now counts. Between lists the later date wins. Where the dates say nothing, one order for all
    /// holders prevents two holders from overwriting each other repeatedly.
    ///
    /// - Parameter isShared: Whether another download also uses the other one.
    func replaces(_ old: PackAge, isShared: @autoclosure () -> Bool) -> Bool {
        if source == old.source { return true }
        if date != old.date { return date > old.date }
        return !isShared() || source.key < old.source.key
    }
}

extension StoreMachine {
    /// Whether readers have a newer pack in the place of a download.
    func isOutdone(_ download: DownloadItem) -> Bool {
        guard let new = download.age, let current = rows.current(download.file.key), current.id != download.file,
            let old = current.age
        else { return false }
        return !rules.replacesPack(new, old) { rows.isHeld(download.file.key, besides: download.holder) }
    }

    /// Notes for the files of a plan that are here already what the server says of them now: their expiry and their age.
    mutating func confirm(_ plan: Plan) {
        var isChanged = false
        for download in plan.downloads where isCurrent(download) {
            guard let known = rows.files[download.file] else { continue }
            var new = known
            if let old = known.expires, let expires = download.expires { new.expires = max(old, expires) }
            if let age = download.age, known.age.map({ age.replaces($0, isShared: true) }) ?? true { new.age = age }
            guard new != known else { continue }
            change(.file(new))
            isChanged = true
        }
        if isChanged { then(.showReaders) }
    }
}

extension StoreRows {
    /// Whether another download also needs a file.
    func isHeld(_ key: InstalledFileKey, besides item: Item?) -> Bool {
        holds.contains { $0.key == key && $0.item != item }
    }
}
