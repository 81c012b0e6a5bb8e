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
    /// holders keeps them from replacing each other's pack for ever.
    ///
    /// - Parameter isShared: Whether somebody else holds the other one.
    func replaces(_ old: PackAge, isShared: @autoclosure () -> Bool) -> Bool {
        if source == old.source { return true }
        if date != old.date { return date > old.date }
        return !isShared() || source.key < old.source.key
    }
}

extension StoreMachine {
    /// Whether readers have a newer pack in the place of a piece.
    func isOutdone(_ piece: Piece) -> Bool {
        guard let new = piece.age, let current = rows.current(piece.file.unit), current.id != piece.file,
            let old = current.age
        else { return false }
        return !rules.replacesPack(new, old) { rows.isHeld(piece.file.unit, besides: piece.holder) }
    }

    /// Notes for the files of a plan that are here already what the server says of them now: their expiry and their age.
    mutating func confirm(_ plan: Plan) {
        var isChanged = false
        for piece in plan.pieces where isCurrent(piece) {
            guard let known = rows.units[piece.file] else { continue }
            var new = known
            if let old = known.expires, let expires = piece.expires { new.expires = max(old, expires) }
            if let age = piece.age, known.age.map({ age.replaces($0, isShared: true) }) ?? true { new.age = age }
            guard new != known else { continue }
            change(.unit(new))
            isChanged = true
        }
        if isChanged { then(.showReaders) }
    }
}

extension StoreRows {
    /// Whether somebody else needs a unit.
    func isHeld(_ unit: UnitKey, besides item: Item?) -> Bool { holds.contains { $0.unit == unit && $0.item != item } }
}
