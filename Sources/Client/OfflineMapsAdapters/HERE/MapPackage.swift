internal import OfflineMaps

/// A package of HERE's tree: a snapshot that does not change, with everything above and below it.
public struct MapPackage: Sendable {
    /// Whether a package is on the device.
    public enum Installation: Sendable {
        /// The package is not installed.
        case none
        /// A package above it is installed.
        case implicit
        /// The package is installed.
        case explicit
        /// The package is installed, and a selected data group of it is missing or a file of it is damaged.
        case partial
    }

    /// What all packages of one snapshot share.
    final class Snapshot: Sendable {
        let language: String
        /// By the id of the node; nodes that are not here are not installed.
        let status: [String: Installation]

        init(language: String, status: [String: Installation]) {
            self.language = language
            self.status = status
        }
    }

    let node: MapNode
    private let snapshot: Snapshot

    init(_ node: MapNode, _ snapshot: Snapshot) {
        self.node = node
        self.snapshot = snapshot
    }

    /// The id of the region.
    public var packageId: String { node.id }
    /// The name in the language of the loader.
    public var title: String { node.names[snapshot.language] ?? englishTitle }
    /// The name in English.
    public var englishTitle: String { node.names["en"] ?? node.package?.name("en") ?? node.id }
    /// The size in KB of 1,024 bytes, with everything below; more than on disk where packages share files.
    public var sizeOnDisk: UInt64 { (node.bytes + 1_023) / 1_024 }
    /// Whether the package was on the device when the snapshot was made.
    public var installed: Bool { status != .none }
    /// Whether and how the package was on the device when the snapshot was made.
    public var status: Installation { snapshot.status[node.id] ?? .none }
    /// The packages below.
    public var children: [MapPackage] { node.children.map { MapPackage($0, snapshot) } }
    /// The package above; `nil` for the world.
    public var parent: MapPackage? { node.parent.map { MapPackage($0, snapshot) } }

    /// The packages of the catalog that an installation consists of: its own, otherwise those of the nodes below.
    var parts: [PackageInfo] { Self.parts(node) }

    static func parts(_ node: MapNode) -> [PackageInfo] {
        node.package.map { [$0] } ?? node.children.flatMap(parts)
    }
}

extension MapPackage.Snapshot {
    /// Makes the snapshot of a tree.
    ///
    /// - Parameter whole: Whether a package of the catalog is installed; `nil` when it is not, `false` when a part of it
    ///   is missing.
    convenience init(_ root: MapNode, language: String, _ whole: (PackageInfo) -> Bool?) {
        var status: [String: MapPackage.Installation] = [:]
        /// - Returns: Whether all packages at or below the node are installed.
        @discardableResult
        func visit(_ node: MapNode, isBelow: Bool) -> Bool {
            var own: Bool?
            if let package = node.package { own = whole(package) }
            if let own { status[node.id] = own ? .explicit : .partial }
            let below = node.children.map { visit($0, isBelow: isBelow || own != nil) }
            if own == nil, isBelow { status[node.id] = .implicit }
            if own == nil, node.package == nil, !below.isEmpty, !below.contains(false) { status[node.id] = .explicit }
            return status[node.id] != nil
        }
        visit(root, isBelow: false)
        self.init(language: language, status: status)
    }
}
