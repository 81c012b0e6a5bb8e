import Catalog
import Wire

extension PBHealth {
    /// The folder of a catalog on the coordinator's machine; `nil` when it has no such catalog.
    ///
    /// - Parameter name: Empty = the main one.
    func folder(ofCatalog name: String) -> String? {
        name.isEmpty || name == PublishOptions.mainCatalog
            ? catalog : otherCatalogs.first { $0.name == name }?.folder
    }
}
