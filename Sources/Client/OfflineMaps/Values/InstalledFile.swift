internal import Foundation
public import Tiles

/// A file on the device: a package, a tile pack, a style pack, or an adopted file.
///
/// Its bytes never change. The planner describes it, the rules decide about it, the database keeps it, and an app reads
/// it: always this record.
public struct InstalledFile: Hashable, Sendable {
    /// Whether readers use it.
    public enum State: Int, Codable, Sendable {
        /// Readers use it.
        case current
        /// Kept for a rollback.
        case previous
        /// Needed, and not at its place: lost, or on a card that is not there.
        case missing
        /// Some of its bytes are wrong: readers use what can be read of it, until it is downloaded again.
        case damaged
    }

    var id: FileID
    /// What it is part of; regions and packages share the packs of a list.
    public internal(set) var item: Item
    /// Below the folder of the store; absolute for a file that was adopted where it is.
    var path: String
    /// The bytes that count towards the quota: those of a style with its unpacked files, 0 for a file that was adopted
    /// where it is.
    public internal(set) var bytes: UInt64
    /// What kind of file it is.
    public internal(set) var format: Format
    /// The tiles that it has; `nil` for a style.
    public internal(set) var mask: TileMask?
    /// The zooms that it has.
    public internal(set) var zooms: ZoomRange?
    /// The tileset of its tiles; `nil` is the package itself.
    public internal(set) var tileset: String?
    /// The address that its tiles have on the network.
    var template: String?
    /// The date of the data, as the catalog writes it.
    public internal(set) var dataDate: String?
    /// The text about the sources that a map must show.
    public internal(set) var attribution: String?
    /// The version of the program that reads a companion; `nil` when its publisher does not say.
    public internal(set) var engine: String?
    /// Whether some bodies of an adopted file are no tiles: readers check each body and pass over those.
    ///
    /// The mask alone cannot say it, because a mask that has a tile has those above it too.
    var hasUnusable = false
    /// When it expires, in seconds since 1970; `nil` is never.
    var expires: Int64?
    /// When it was read last, in seconds since 1970.
    var usedAt: Int64 = 0
    /// The number of its installation: a greater one is later.
    var order: Int64 = 0
    /// Whether readers use it.
    public internal(set) var state = State.current
}

extension InstalledFile {
    /// The version; 0 for a pack of a list, which regions share by its bytes.
    public var version: Int32 { id.version }
    /// 64 lower-case hexadecimal digits; for a file that was filled or stays where it is, a name and no digest.
    public var sha256: String { id.digest }

    /// Whether it is a file that was adopted where it is: its path is absolute.
    var isOutside: Bool { path.utf8.first == UInt8(ascii: "/") }

    /// Whether readers get its tiles: all of a current file, and those of a damaged file that can be read.
    public var isRead: Bool { state == .current || state == .damaged }

    /// Whether it was adopted: no catalog has it, so it cannot be downloaded again.
    var isAdopted: Bool { isOutside || path.hasPrefix("units/\(StoreFolder.Kind.adopted.rawValue)") }

    /// Whether it has not expired.
    var isFresh: Bool { expires.map { $0 > Int64(Date().timeIntervalSince1970) } ?? true }

    /// The age of a pack from a list; `nil` for other files, which keep their item and date.
    var age: PackAge? {
        get {
            guard case .packs = item else { return nil }
            return PackAge(date: dataDate ?? "", source: item)
        }
        set { if let newValue { (item, dataDate) = (newValue.source, newValue.date.isEmpty ? nil : newValue.date) } }
    }
}
