internal import OfflineMaps
internal import Synchronization

extension MapLoader {
    /// Selects a data group for later installations; an update applies it to what is installed.
    ///
    /// - Returns: `false` when the catalog has no such group.
    @discardableResult
    public func select(_ group: String) async -> Bool {
        guard await store.catalog?.groups.contains(group) ?? false else { return false }
        return await change { $0.insert(group) }
    }

    /// Takes a data group out of the selection; what is installed stays.
    ///
    /// - Returns: `false` when the group is not selected.
    @discardableResult
    public func deselect(_ group: String) async -> Bool {
        guard await isSelected(group) else { return false }
        return await change { $0.remove(group) }
    }

    /// Whether a data group is selected.
    public func isSelected(_ group: String) async -> Bool {
        await selections.finish()
        // A store that cannot be read has no selection: the SDK's call has no errors.
        return (try? await store.groups().contains(group)) ?? false
    }

    private func change(_ edit: @escaping @Sendable (inout Set<String>) -> Void) async -> Bool {
        let isDone = Mutex(false)
        await selections.add { [store] in
            // The result `false` reports both errors.
            guard var groups = try? await store.groups() else { return }
            edit(&groups)
            let isSet: Void? = try? await store.setGroups(groups)
            isDone.withLock { $0 = isSet != nil }
        }.value
        return isDone.withLock { $0 }
    }
}
