/// What a request asks the server to do.
public enum TransferMethod: String, Sendable, Hashable {
    /// Fetch a body.
    case get = "GET"
    /// Fetch the headers of a GET only.
    case head = "HEAD"
    /// Store the uploaded body.
    case put = "PUT"
    /// Hand the uploaded body over.
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

/// A file that takes the body of a 200 or 206 answer instead of memory.
///
/// Bytes that the file has already are asked for no more (`Range`), on the first attempt and on every later one; a server
/// that sends the whole body all the same makes the file start over. Bodies of other answers go to memory.
public struct TransferSink: Sendable, Hashable {
    /// Made when it is not there.
    public var path: String
    /// The largest file wanted, in bytes.
    public var maxBytes: UInt64

    /// A sink into the file at `path`.
    public init(path: String, maxBytes: UInt64) {
        self.path = path
        self.maxBytes = maxBytes
    }
}

/// AWS Signature Version 4, made anew for every attempt by libcurl.
///
/// libcurl 7.88 signs what it is given: the query must be sorted and every key followed by '=', and the caller sends
/// `x-amz-content-sha256` itself. Only the request's own headers go along, because every one of them is signed.
public struct TransferSigning: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The region in the signature's scope: `us-east-1`.
    public let region: String
    /// The service in the signature's scope: `s3`.
    public let service: String
    /// May hold any character, ':' included.
    public let accessKey: String
    let secretKey: String

    /// Signs for a service of a region.
    public init(region: String, service: String, accessKey: String, secretKey: String) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
    }

    /// Names region and service only.
    public var description: String { "SigV4(\(region)/\(service))" }
    /// The same: a secret must not reach a log by way of a dump.
    public var debugDescription: String { description }

    var provider: String { "aws:amz:\(region):\(service)" }
    /// libcurl takes 64 characters a part, and ':' parts them.
    var isUsable: Bool {
        [region, service].allSatisfy { part in
            (1...63).contains(part.utf8.count) && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
        } && !accessKey.isEmpty && !secretKey.isEmpty
            && (accessKey + secretKey).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}

/// One request; a GET unless it says otherwise.
public struct TransferRequest: Sendable {
    /// Chosen by the caller; comes back with the result.
    public var tag: UInt64
    /// An absolute http or https URL.
    public var url: String
    /// Sent besides the client's own headers, and never to another host after a redirect.
    public var headers: [HeaderField]
    /// What the server is to do; redirects are followed for a GET alone.
    public var method = TransferMethod.get
    /// What a PUT or POST sends; without it, nothing.
    public var upload: TransferUpload?
    /// Where the body goes; without it, to memory.
    public var sink: TransferSink?
    /// Asks for a part of the body, which goes to memory; not together with ``sink``, and not empty.
    ///
    /// What a broken connection brought is not asked for again where the server names a strong ETag. A server that answers with the whole body, or
    /// with another part, is refused before its first byte (`range-ignored`, `wrong-range`).
    public var range: Range<UInt64>?
    /// Whether it was given up before, while others were answered: its failures say nothing about the origin, and all count.
    public var hasFailedBefore = false
    /// How the request is signed; a signed one follows no redirect and carries none of the client's own headers.
    public var signing: TransferSigning?

    /// Makes a GET request for `url` that is known to the caller as `tag`.
    public init(tag: UInt64, url: String, headers: [HeaderField] = []) {
        self.tag = tag
        self.url = url
        self.headers = headers
    }

    /// Whether a redirect is followed rather than handed to the caller.
    var followsRedirects: Bool { method == .get && signing == nil }
}

/// An answer with the body exactly as it was sent: a content coding is reported, never undone.
public struct TransferResponse: Sendable {
    /// The HTTP status of the last attempt.
    public var status: Int
    /// The body, still in its content coding; empty when it went to a file.
    public var body: [UInt8]
    /// The response headers that matter to tiles and blobs.
    public var headers: ResponseHeaders
    /// Attempts made, 1 for the first.
    public var attempts: Int
    /// Body bytes received over all attempts.
    public var received: Int
}

/// What became of a request.
public struct TransferResult: Sendable {
    /// The tag of the request.
    public var tag: UInt64
    /// The answer, whatever its status; or the failure of the last attempt.
    public var outcome: Result<TransferResponse, TransferError>
    /// From handing over to the end of the last attempt.
    public var elapsed: Duration
}
