public import Foundation
internal import TextFormats

/// One notification, in the form in which receivers and scripts get it.
///
/// Its JSON has the keys of docs/reference/notifications.md, in snake case.
public struct EventNotification: Codable, Hashable, Sendable {
    /// A published package.
    public struct Package: Codable, Hashable, Sendable {
        /// Its id in the catalog.
        public var id: String
        /// Its version in the catalog.
        public var version: UInt32
        /// Bytes of its MBTiles file.
        public var size: UInt64
        /// Tiles in it.
        public var tiles: UInt64
        /// SHA-256 of the file, hexadecimal.
        public var sha256: String
        /// The file, relative to the catalog folder.
        public var path: String
        /// Where clients get the file; `nil` when the catalog has no public address.
        public var url: String?
        /// The package in other formats.
        public var files: [File]

        /// A published package.
        public init(
            id: String, version: UInt32, size: UInt64, tiles: UInt64, sha256: String, path: String, url: String?,
            files: [File]
        ) {
            self.id = id
            self.version = version
            self.size = size
            self.tiles = tiles
            self.sha256 = sha256
            self.path = path
            self.url = url
            self.files = files
        }
    }

    /// A published package in another format.
    public struct File: Codable, Hashable, Sendable {
        /// Kebab-case name of the format.
        public var format: String
        /// Bytes.
        public var size: UInt64
        /// SHA-256, hexadecimal.
        public var sha256: String
        /// The file, relative to the catalog folder; `nil` for a format that this build does not know.
        public var path: String?

        /// A file of a published package.
        public init(format: String, size: UInt64, sha256: String, path: String?) {
            self.format = format
            self.size = size
            self.sha256 = sha256
            self.path = path
        }
    }

    /// A tile server that gets no requests.
    public struct Origin: Codable, Hashable, Sendable {
        /// Host and port, or the archive.
        public var name: String
        /// Why it gets no requests.
        public var reason: String
        /// How long it gets none, as known at the time of the event.
        public var seconds: UInt64

        /// A tile server that gets no requests.
        public init(name: String, reason: String, seconds: UInt64) {
            self.name = name
            self.reason = reason
            self.seconds = seconds
        }
    }

    /// Equal in each delivery of the event, and different for each event.
    public var id: String
    /// The number of the event's line in the event log.
    public var seq: UInt64
    /// ``NotificationKind/name``.
    public var kind: String
    /// When the event happened: UTC, with milliseconds.
    public var time: String
    /// The number of the job; `nil` when the event belongs to no single job.
    public var job: UInt64?
    /// The name of the catalog that the job publishes into; `nil` when the event belongs to no single job.
    public var catalog: String?
    /// `done`, `failed` or `cancelled` of a job, `published` of a package, `blocked` or `broken` of an origin,
    /// `failed` of a schedule.
    public var state: String
    /// Why a job failed or was cancelled, or a schedule failed.
    public var reason: String?
    /// The schedule that the event is about.
    public var schedule: String?
    /// The package that the event is about.
    public var package: Package?
    /// The origin that the event is about.
    public var origin: Origin?
    /// The event as a line for people.
    public var text: String

    /// The largest length of `reason` and `text` in UTF-8, so that a notification fits a pipe (64 KiB, pipe(7)).
    ///
    /// Unit: bytes. JSON needs up to six for each.
    public static let maxBytes = 4_000

    /// The beginning of a text, as far as a notification has it.
    public static func shortened(_ text: String) -> String {
        guard text.utf8.count > maxBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maxBytes)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }

    /// A notification without job, reason, schedule, package and origin.
    ///
    /// - Parameter wall: Milliseconds since 1970.
    public init(id: String, seq: UInt64, kind: NotificationKind, wall: Int64, state: String, text: String) {
        self.id = id
        self.seq = seq
        self.kind = kind.name
        time = UTCTime.text(milliseconds: wall)
        self.state = state
        self.text = Self.shortened(text)
    }

    /// Reads the JSON of ``json()``.
    public init(json: Data) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Self.self, from: json)
    }

    /// One JSON object in one line, with sorted keys.
    public func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Array(try encoder.encode(self))
    }
}

/// A notification with what its delivery needs.
public struct LoggedNotification: Hashable, Sendable {
    /// When the event happened; milliseconds since 1970.
    public let wall: Int64
    /// What is delivered.
    public let content: EventNotification

    /// A notification of a line of the event log.
    public init(wall: Int64, content: EventNotification) {
        self.wall = wall
        self.content = content
    }
}
