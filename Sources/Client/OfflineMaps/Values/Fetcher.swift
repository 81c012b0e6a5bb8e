public import Foundation

/// A request of the library, before it is sent.
public struct ResourceRequest: Hashable, Sendable {
    /// The address.
    public var url: URL
    /// What is requested.
    public var kind: Kind
    /// The headers.
    public var headers: [String: String]
    /// The highest rate of the download; `nil` is no limit.
    ///
    /// ``URLSessionFetcher`` cannot limit rates.
    public var bytesPerSecond: UInt64?
    /// Whether it is one of the many of a task, and not of a map that is viewed.
    ///
    /// A fetcher sends such a request, and follows its redirects, to no host that forbids bulk downloads. A change by
    /// ``StoreOptions/transform`` does not count.
    public var isBulk: Bool

    /// Makes a request.
    public init(
        _ url: URL, _ kind: Kind, headers: [String: String] = [:], bytesPerSecond: UInt64? = nil, isBulk: Bool = true
    ) {
        self.url = url
        self.kind = kind
        self.headers = headers
        self.bytesPerSecond = bytesPerSecond
        self.isBulk = isBulk
    }

    /// The request with the app's changes.
    func changed(by transform: (@Sendable (ResourceRequest) async -> ResourceRequest)?) async -> ResourceRequest {
        var new = await transform?(self) ?? self
        new.isBulk = isBulk
        return new
    }

    /// What a request asks for.
    public enum Kind: String, Hashable, Sendable {
        case catalog, package, patch, pack, style, source, tile, glyphs, sprite, image, other
    }
}

/// Downloads bodies and files: URLSession on Apple's systems, libcurl on Linux, or an implementation of the app.
public protocol Fetcher: Sendable {
    /// Whether downloads continue while the app is suspended.
    var continuesWhileSuspended: Bool { get }

    /// Downloads a body into memory; more bytes than the limit give ``FailureCause/tooBig``.
    func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody

    /// Downloads into a part file, from an offset; reports the size of the part file as it grows.
    ///
    /// A server that does not continue at the offset makes the download start over, at the beginning of the part file.
    /// A file with more bytes than the limit gives ``FailureCause/tooBig``, and the part file never has more than these.
    /// Cancelling the task of the caller ends the download within 100 ms.
    func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile
}

/// Why a download failed.
public struct FetchError: Error, Sendable {
    /// The cause.
    public var cause: FailureCause
    /// The HTTP status, when there was an answer.
    public var status: Int?
    /// What the server asked to wait.
    public var retryAfter: Duration?
    /// Whether the answer was a web page in place of the file: a network that asks for a login.
    public var isPage: Bool
    /// Whether the disk is full, of an error with the cause ``FailureCause/storage``.
    ///
    /// Then the download waits for space; otherwise it fails.
    public var isDiskFull = false
    /// What happened, for people.
    public var message: String

    /// Makes an error of its parts.
    public init(
        _ cause: FailureCause, status: Int? = nil, retryAfter: Duration? = nil, isPage: Bool = false,
        _ message: String
    ) {
        self.cause = cause
        self.status = status
        self.retryAfter = retryAfter
        self.isPage = isPage
        self.message = message
    }
}

/// A body that was downloaded.
public struct FetchedBody: Sendable {
    /// The HTTP status: 200, 204 or 304.
    public var status: Int
    /// The bytes.
    public var body: Data
    /// The header ETag.
    public var etag: String?
    /// The header Last-Modified.
    public var modified: Date?
    /// When the body becomes stale, by Cache-Control or Expires and the server's Date.
    public var expires: Date?
    /// Whether the server asks that a stale body is not used while the server can be asked.
    public var mustRevalidate: Bool
    /// The header Content-Type without its parameters.
    public var mediaType: String?

    /// Makes a body of its parts.
    public init(
        status: Int, body: Data, etag: String? = nil, modified: Date? = nil, expires: Date? = nil,
        mustRevalidate: Bool = false, mediaType: String? = nil
    ) {
        self.status = status
        self.body = body
        self.etag = etag
        self.modified = modified
        self.expires = expires
        self.mustRevalidate = mustRevalidate
        self.mediaType = mediaType
    }
}

/// A file that was downloaded into its part file.
public struct FetchedFile: Sendable {
    /// The HTTP status: 200 or 206.
    public var status: Int
    /// The size of the part file.
    public var size: UInt64
    /// Whether the server did not continue at the offset.
    public var startedOver: Bool
    /// The header ETag.
    public var etag: String?
    /// When the file becomes stale.
    public var expires: Date?

    /// Makes a file's description of its parts.
    public init(status: Int, size: UInt64, startedOver: Bool = false, etag: String? = nil, expires: Date? = nil) {
        self.status = status
        self.size = size
        self.startedOver = startedOver
        self.etag = etag
        self.expires = expires
    }
}

/// Tells which network there is.
///
/// Gives hints only: a request that succeeds proves that there is a network.
public protocol NetworkMonitor: Sendable {
    /// The state now and each change of it.
    func states() -> AsyncStream<NetworkState>
}

/// Which network there is.
public enum NetworkState: String, Codable, Sendable {
    /// No network.
    case none
    /// A network that costs by the byte.
    case expensive
    /// A network that costs nothing by the byte.
    case free
}
