public import Foundation

extension MapStore {
    /// The folder of the store.
    public nonisolated var folder: URL { worker.folder.root }

    /// How much the store may hold now.
    public func quota() async throws(StoreError) -> Quota { try await worker.view().rows.settings.quota }
}
