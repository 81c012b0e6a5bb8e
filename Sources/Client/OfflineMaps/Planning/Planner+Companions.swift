internal import CatalogFormat

extension Planner {
    /// Adds the companions of a package: those that the task asks for, and those that the package has on the device.
    ///
    /// The package holds them: what happens to it happens to them. All of its files become current in one transaction.
    func addCompanions(
        of holder: Item, _ base: CatalogAddress, for task: TaskRecord, in view: PlanView, to draft: inout PlanDraft
    ) throws(PlanProblem) {
        guard case .package(let id, let edition, _) = holder, let content = view.content else { return }
        let choice = task.companions ?? CompanionChoice()
        let held = view.rows.holds.filter { $0.item == holder && $0.key.isCompanion }
        guard !held.isEmpty || !choice.isEmpty else { return }
        let offers = content.companions(of: id, language: edition.language)
        for wish in choice.with.sorted() {
            guard offers.contains(where: { $0.isCompanion(wish) }) else {
                let known = Set(offers.compactMap { $0.companion?.kind }).sorted()
                throw view.lacks(
                    "'\(wish)' for '\(id)'; it has \(known.isEmpty ? "no companion of it" : known.joined(separator: ", "))"
                )
            }
        }
        for offer in offers {
            let item = Item.package(
                offer.id, Edition(group: offer.group, language: offer.language), Format(CatalogCompanion.format))
            let isHeld = held.contains { $0.key.name == item.key }
            let isGivenUp = choice.without.contains { offer.isCompanion($0) }
            guard !isGivenUp, isHeld || choice.with.contains(where: { offer.isCompanion($0) }),
                let file = offer.files.first
            else { continue }
            try add(file, of: offer, as: item, holder: holder, base, for: task, in: view, to: &draft)
            draft.plan.swapsTogether = true
        }
        release(choice, of: holder, in: view, from: &draft)
    }

    /// Lets a package give up companions, also those that the catalog does not have any more.
    func release(_ choice: CompanionChoice, of holder: Item, in view: PlanView, from draft: inout PlanDraft) {
        draft.plan.released.formUnion(
            view.rows.holds.filter { hold in
                guard hold.item == holder, let kind = Item(key: hold.key.name)?.companionKind else { return false }
                return choice.without.contains { CatalogCompanion.kind(kind, isOf: $0) }
            })
    }
}

extension CatalogContent {
    /// The companions of a package; of a kind that is there in several languages, the one of the package or the one without.
    func companions(of id: String, language: String?) -> [Offer] {
        let own = companions.filter { $0.id == id && ($0.language == nil || $0.language == language) }
        return own.filter { offer in
            offer.language != nil || !own.contains { $0.group == offer.group && $0.language != nil }
        }
    }
}

extension CatalogContent.Offer {
    /// Whether it is of a kind, or of one that begins with these words.
    func isCompanion(_ wish: String) -> Bool { companion.map { CatalogCompanion.kind($0.kind, isOf: wish) } ?? false }
}

extension InstalledFileKey {
    /// Whether it is the key of a companion.
    var isCompanion: Bool { !isPack && Item(key: name)?.isCompanion == true }
}

extension Item {
    /// Whether it is a file that belongs to a package and is no map.
    public var isCompanion: Bool { companionKind != nil }

    /// What a companion is for: `routing.valhalla`; `nil` for other items.
    public var companionKind: String? {
        guard case .package(_, let edition, let format) = self, format == .opaque, let group = edition.group else {
            return nil
        }
        return group.replacing("-", with: ".")
    }

    /// Whether it is the base map of a package, in whichever language and format.
    func isMap(_ id: String) -> Bool {
        guard case .package(id, let edition, let format) = self else { return false }
        return edition.group == nil && format != .opaque
    }
}
