public import Foundation

/// An item that is on the device.
public struct Installed: Hashable, Sendable {
    /// The item.
    public var item: Item
    /// Its files, also those that others share, in the order of their installation.
    public var files: [InstalledFile]
    /// The file of an item that is one file; do not store it: an update has another name, and the folder can move.
    public var file: URL?
    /// The bytes that its removal frees.
    public var ownBytes: UInt64
    /// Whether the catalog still has it.
    public var isInCatalog: Bool
    /// The files that belong to it and are no maps, ascending by kind.
    public var companions: [InstalledCompanion] = []

    /// Describes an item.
    public init(
        item: Item, files: [InstalledFile], file: URL? = nil, ownBytes: UInt64, isInCatalog: Bool = true
    ) {
        self.item = item
        self.files = files
        self.file = file
        self.ownBytes = ownBytes
        self.isInCatalog = isInCatalog
    }

    /// The files that readers get.
    public var current: [InstalledFile] { files.filter(\.isRead) }
    /// Whether a file that readers get is damaged: tiles of it cannot be read until it is downloaded again.
    public var isDamaged: Bool { files.contains { $0.state == .damaged } }
    /// The version that readers get.
    public var version: Int32 { main?.version ?? 0 }
    /// The bytes of the files that readers get.
    public var bytes: UInt64 { current.reduce(0) { $0 + $1.bytes } }
    /// The date of the data, as the catalog writes it.
    public var dataDate: String? { main?.dataDate }
    /// The versions that a rollback can go to, the newest first.
    public var previous: [Int32] {
        var seen: Set<Int32> = []
        return files.filter { $0.state == .previous && item.isMade(of: $0.item) }.reversed().map(\.version)
            .filter { seen.insert($0).inserted }
    }

    /// The file of the item itself, and not of a data group that goes with it; of a package in parts the part that changed last.
    private var main: InstalledFile? {
        current.filter { item.isMade(of: $0.item) }.max { $0.version < $1.version } ?? current.first
    }
}

/// The JSON of an installed item: its version, date and previous versions in place of its files.
extension Installed: Encodable {
    private enum CodingKeys: String, CodingKey {
        case item, version, bytes, ownBytes, dataDate, previous, isInCatalog, isDamaged, file, companions
    }

    /// Writes an installed item; tile packs and regions have no version.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(item, forKey: .item)
        try values.encodeIfPresent(item.hasVersion ? version : nil, forKey: .version)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(ownBytes, forKey: .ownBytes)
        try values.encodeIfPresent(dataDate, forKey: .dataDate)
        try values.encode(previous, forKey: .previous)
        try values.encode(isInCatalog, forKey: .isInCatalog)
        if isDamaged { try values.encode(true, forKey: .isDamaged) }
        try values.encodeIfPresent(file?.path, forKey: .file)
        if !companions.isEmpty { try values.encode(companions, forKey: .companions) }
    }
}

/// Something that `verify` or `repair` found.
public struct Finding: Hashable, Encodable, Sendable {
    /// The item that it belongs to.
    public var item: Item?
    /// The path below the folder of the store.
    public var path: String
    /// What is wrong.
    public var problem: String
    /// Whether it was mended, or a task mends it.
    public var isMended: Bool
    /// The task that downloads the file again.
    public var task: TaskID?

    /// Describes a finding.
    public init(item: Item? = nil, path: String, problem: String, isMended: Bool = false, task: TaskID? = nil) {
        self.item = item
        self.path = path
        self.problem = problem
        self.isMended = isMended
        self.task = task
    }

    private enum CodingKeys: String, CodingKey { case item, path, problem, isMended }
}

/// What an update would change.
public struct UpdateOffer: Hashable, Sendable {
    /// Each item that has a newer version, or a file that is missing or damaged.
    public var changes: [Change]
    /// The bytes over the network.
    public var bytes: UInt64
    /// The dates of the data on the device, as a text for people; without dates the versions.
    public var from: String
    /// The dates of the data after the update; without dates the versions.
    public var to: String

    /// Describes an update.
    public init(changes: [Change], bytes: UInt64, from: String, to: String) {
        self.changes = changes
        self.bytes = bytes
        self.from = from
        self.to = to
    }

    /// The update of one item.
    public struct Change: Hashable, Sendable {
        /// The item.
        public var item: Item
        /// The installed version; `nil` when its file is missing or damaged.
        public var from: Int32?
        /// The newest version.
        public var to: Int32
        /// The bytes over the network.
        public var bytes: UInt64
        /// Those of ``bytes`` that are for companions.
        public var companionBytes: UInt64
        /// Whether a patch of the item's own file is downloaded, and not the whole file.
        public var isPatch: Bool

        /// Describes the update of one item.
        public init(
            item: Item, from: Int32?, to: Int32, bytes: UInt64, companionBytes: UInt64 = 0, isPatch: Bool
        ) {
            self.companionBytes = companionBytes
            self.item = item
            self.from = from
            self.to = to
            self.bytes = bytes
            self.isPatch = isPatch
        }
    }
}
