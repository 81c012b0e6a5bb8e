import Catalog
import CatalogFormat
import Errors

/// Whether a catalog in a place is an earlier state of this one, so that this one may take its place.
///
/// Versions and the sequence of a catalog never fall, and a package that is withdrawn stays in its history.
struct CatalogLineage {
    private let index: CatalogIndex
    private let keyID: String?
    /// The newest version of each package, by edition and id.
    private var newest: [Name: Int32] = [:]

    private struct Name: Hashable {
        let edition: String
        let id: String
    }

    /// - Parameter keyID: The id of the key that it is signed with; `nil` for one without a signature.
    init(_ index: CatalogIndex, keyID: String?) {
        self.index = index
        self.keyID = keyID
        for package in index.packages { add(Self.names(package), in: package.edition, version: Self.version(package)) }
    }

    /// Takes the withdrawn packages of an edition into account.
    ///
    /// - Parameter versions: By id.
    mutating func addWithdrawn(in edition: String, _ versions: [String: Int32]) {
        for (id, version) in versions { add([id], in: edition, version: version) }
    }

    /// Why another catalog is no earlier state of this one, as the end of a sentence; `nil` when it is one.
    ///
    /// - Parameter other: The id of the key that it is signed with.
    func difference(from there: CatalogIndex, keyID other: String?) -> String? {
        if let other, other != keyID {
            return "it is signed with key \(other), and this one "
                + (keyID.map { "with key \($0)" } ?? "is not signed")
        }
        for package in there.packages {
            let (known, version) = (
                Self.names(package).compactMap { newest[Name(edition: package.edition, id: $0)] }.max(),
                Self.version(package)
            )
            guard let known else { return "it has the package '\(package.id)', which this one never had" }
            guard version <= known else {
                return "it has version \(version) of package '\(package.id)', and this one has \(known)"
            }
        }
        if let sequence = there.sequence, let own = index.sequence, sequence > own {
            return "its sequence is \(sequence), and that of this one is \(own)"
        }
        return nil
    }

    private mutating func add(_ ids: [String], in edition: String, version: Int32) {
        for id in ids {
            let name = Name(edition: edition, id: id)
            newest[name] = max(newest[name] ?? 0, version)
        }
    }

    /// Its own id, and that of the package that it is a part of: a package may be cut into other parts.
    private static func names(_ package: CatalogIndex.Package) -> [String] {
        package.part.map { [package.id, $0.of] } ?? [package.id]
    }

    private static func version(_ package: CatalogIndex.Package) -> Int32 {
        package.versions.map(\.version).max() ?? 0
    }
}
