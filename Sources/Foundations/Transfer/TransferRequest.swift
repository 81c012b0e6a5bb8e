/// The method of a request.
public enum TransferMethod: String, Sendable, Hashable {
    /// Fetch a body.
    case get = "GET"
    /// Fetch the headers of a GET only.
    case head = "HEAD"
    /// Store the uploaded body.
    case put = "PUT"
    /// Send the uploaded body.
    case post = "POST"
    /// Remove.
    case delete = "DELETE"
}

/// The body of a PUT or POST request.
public enum TransferUpload: Sendable, Hashable {
    /// Bytes held in memory.
    case bytes([UInt8])
    /// A range of a file, read while it is sent; the file must not change meanwhile.
    case file(path: String, offset: UInt64, count: UInt64)
}

/// A file that receives the body of a 200 or 206 answer instead of memory.
///
/// Bytes that the file already contains are not requested again (`Range`), on the first attempt and on every later one.
/// If a server sends the whole body anyway, the file starts over. Bodies of other answers go to memory.
public struct TransferSink: Sendable, Hashable {
    /// Created when it does not exist.
    public var path: String
    /// The largest accepted file, in bytes.
    public var maxBytes: UInt64

    /// A sink into the file at `path`.
    public init(path: String, maxBytes: UInt64) {
        self.path = path
        self.maxBytes = maxBytes
    }
}

/// AWS Signature Version 4, computed for every attempt by libcurl.
///
/// libcurl 7.88 signs what it is given: the query must be sorted and every key followed by '=', and the caller sends
/// `x-amz-content-sha256` itself. Only the request's own headers are sent, because every one of them is signed.
public struct TransferSigning: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The region in the signature's scope, for example `us-east-1`.
    public let region: String
    /// The service in the signature's scope, for example `s3`.
    public let service: String
    /// May contain any character, including ':'.
    public let accessKey: String
    let secretKey: String

    /// Signs for a service of a region.
    public init(region: String, service: String, accessKey: String, secretKey: String) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
    }

    /// Contains only region and service.
    public var description: String { "SigV4(\(region)/\(service))" }
    /// The same: a secret must not reach a log through a dump.
    public var debugDescription: String { description }

    var provider: String { "aws:amz:\(region):\(service)" }
    /// libcurl accepts 64 characters per part, separated by ':'.
    var isUsable: Bool {
        [region, service].allSatisfy { part in
            (1...63).contains(part.utf8.count) && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
        } && !accessKey.isEmpty && !secretKey.isEmpty
            && (accessKey + secretKey).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}

/// One request; by default a GET.
public struct TransferRequest: Sendable {
    /// Chosen by the caller and returned with the result.
    public var tag: UInt64
    /// An absolute http or https URL.
    public var url: String
    /// Sent in addition to the client's own headers, and never to another host after a redirect.
    public var headers: [HeaderField]
    /// The method.
    ///
    /// Redirects are followed only for a GET.
    public var method = TransferMethod.get
    /// The body of a PUT or POST; `nil` = empty.
    public var upload: TransferUpload?
    /// The file for the body; `nil` = memory.
    public var sink: TransferSink?
    /// The highest rate of the body; `nil` = no limit.
    public var bytesPerSecond: Double?
    /// What takes the body instead of memory; it decides about sizes, and the body is not compressed on the way.
    ///
    /// Not together with ``sink`` or ``range``.
    public var receiver: (any TransferReceiver)?
    /// Requests a part of the body, which is stored in memory.
    ///
    /// Not together with ``sink``, and not empty.
    ///
    /// Bytes of a broken connection are not requested again if the server sends a strong ETag. An answer with the whole
    /// body or with another part is refused before its first byte (`range-ignored`, `wrong-range`).
    public var range: Range<UInt64>?
    /// Whether it failed permanently before, while others were answered.
    ///
    /// Then its failures are no evidence against the origin, and all of them count.
    public var hasFailedBefore = false
    /// How the request is signed.
    ///
    /// A signed request follows no redirect and contains none of the client's own headers.
    public var signing: TransferSigning?

    /// Creates a GET request for `url` that the caller identifies by `tag`.
    public init(tag: UInt64, url: String, headers: [HeaderField] = []) {
        self.tag = tag
        self.url = url
        self.headers = headers
    }

    /// Whether a redirect is followed rather than handed to the caller.
    var followsRedirects: Bool { method == .get && signing == nil }
}

/// An answer with the body exactly as it was sent.
///
/// A content coding is reported, not decoded.
public struct TransferResponse: Sendable {
    /// The HTTP status of the last attempt.
    public var status: Int
    /// The body, still in its content coding; empty when it was written to a file or taken by a receiver.
    public var body: [UInt8]
    /// The response headers that are used for tiles and blobs.
    public var headers: ResponseHeaders
    /// Number of attempts, 1 = only the first.
    public var attempts: Int
    /// Body bytes received over all attempts.
    public var received: Int
    /// The address that answered, after redirects.
    ///
    /// It may contain a secret.
    public var url: String
}

/// The result of a request.
public struct TransferResult: Sendable {
    /// The tag of the request.
    public var tag: UInt64
    /// The answer, whatever its status, or the failure of the last attempt.
    public var outcome: Result<TransferResponse, TransferError>
    /// The time from submission to the end of the last attempt.
    public var elapsed: Duration
}
