public import Errors
internal import Files
internal import Foundation
public import S3
internal import TextFormats
internal import Transfer

/// The objects under one prefix of one bucket.
///
/// Names are relative to the prefix. Every request is signed with Signature Version 4 and carries the SHA-256 of its
/// body, which the server checks. Requests that fail because of a busy server or the connection are repeated for some
/// seconds.
public struct S3Bucket: Sendable {
    /// Bucket and prefix.
    public let location: S3Location
    /// The server.
    public let endpoint: S3Endpoint
    private let client: TransferClient
    private let credentials: any S3CredentialProvider

    /// Gets ready; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - credentials: Asked before each request.
    ///   - connections: Requests at a time, 1...256.
    ///   - attempts: Of each request, the first included.
    /// - Throws: ``S3Error`` `bad-endpoint` when libcurl cannot be set up.
    public init(
        _ location: S3Location, at endpoint: S3Endpoint, credentials: any S3CredentialProvider, connections: Int = 8,
        attempts: Int = 5
    ) throws(S3Error) {
        self.location = location
        self.endpoint = endpoint
        self.credentials = credentials
        var options = TransferOptions()
        options.concurrency = connections
        options.connectTimeout = .seconds(10)
        // A long transfer is aborted only if it stalls.
        options.totalTimeout = .seconds(86_400)
        options.stallTimeout = .seconds(30)
        // The largest objects that are read into memory are lists of catalogs.
        options.maxBodyBytes = 256 << 20
        options.retry.maxAttempts = attempts
        do {
            client = try TransferClient(options)
        } catch {
            throw S3Error(.badLocation, "No connection to S3 can be set up: \(error.message).")
        }
    }

    // MARK: - Objects

    /// Stores a file of that SHA-256 in one request.
    public func put(_ name: String, file: String, size: UInt64, sha256: String) async throws {
        _ = try await put(name, file: file, size: size, sha256: sha256, if: nil)
    }

    /// Stores some bytes.
    public func put(_ name: String, bytes: [UInt8]) async throws {
        _ = try await put(name, bytes: bytes, if: nil)
    }

    /// Length of an object, or `nil` without one.
    public func size(of name: String) async throws -> UInt64? {
        let answer = try await send(.head, name)
        switch answer.status {
        case 200:
            guard let size = answer.headers.contentLength.flatMap({ UInt64($0) }) else {
                throw S3Error(.badAnswer, "\(place) sends no length of \(name).")
            }
            return size
        case 404: return nil
        default:
            // A refused HEAD has no body; the same GET has one.
            let words = try await send(.get, name, headers: [HeaderField("Range", "bytes=0-0")])
            throw refusal(of: words.status < 300 ? answer : words, "look for \(name)")
        }
    }

    /// A small object's bytes, or `nil` without one.
    public func read(_ name: String) async throws -> [UInt8]? { try await object(name)?.bytes }

    /// Downloads an object into a file; resumes an earlier attempt.
    ///
    /// - Returns: Whether there is such an object.
    public func download(_ name: String, to path: String, maxBytes: UInt64) async throws -> Bool {
        let sink = TransferSink(path: path, maxBytes: maxBytes)
        var answer = try await send(.get, name, sink: sink)
        if answer.status == 416 {
            // The file is as long as the object or longer: it is complete or invalid. The caller then checks the
            // digest.
            unlink(path)
            answer = try await send(.get, name, sink: sink)
        }
        if answer.status == 200 || answer.status == 206 { return true }
        let refusal = refusal(of: answer, "read \(name)")
        guard answer.status == 404, refusal.code != .noBucket else { throw refusal }
        return false
    }

    /// Removes an object; a missing object is not an error.
    public func remove(_ name: String) async throws {
        let answer = try await send(.delete, name)
        guard [200, 204, 404].contains(answer.status) else { throw refusal(of: answer, "remove \(name)") }
    }

    /// One page of the objects under the prefix, in the order of their names.
    ///
    /// - Parameters:
    ///   - beginning: With what the names begin; empty = all names.
    ///   - token: From the page before; `nil` for the first.
    ///   - most: Objects wanted at most, 1...1,000.
    public func list(
        under beginning: String = "", after token: String? = nil, most: Int = 1_000
    ) async throws -> S3Page {
        let prefix = location.key("")
        var query = [("list-type", "2"), ("max-keys", "\(most)"), ("prefix", location.key(beginning))]
        if let token { query.append(("continuation-token", token)) }
        let answer = try await send(.get, nil, query: query)
        guard answer.status == 200 else { throw refusal(of: answer, "list the objects of") }
        return S3Page(S3Document(answer.body), prefix: prefix, serverDate: answer.headers.date)
    }

    // MARK: - Requests

    /// Endpoint and bucket, as messages name them.
    var place: String { "S3 bucket '\(location.bucket)' at '\(endpoint)'" }

    /// Sends one request about an object, or about the bucket itself.
    func send(
        _ method: TransferMethod, _ name: String?, query: [(String, String)] = [], headers: [HeaderField] = [],
        upload: TransferUpload? = nil, sha256: String = S3Text.nothing, sink: TransferSink? = nil,
        receiver: (any TransferReceiver)? = nil
    ) async throws -> TransferResponse {
        let path = location.bucket + (name.map { "/" + location.key($0) } ?? "")
        var request = TransferRequest(
            endpoint, path: path, query: S3Text.query(query), sha256: sha256,
            credentials: try await credentials.current())
        request.headers += headers
        request.method = method
        request.upload = upload
        request.sink = sink
        request.receiver = receiver
        do {
            return try await client.send(request)
        } catch {
            if error.code == .cancelled { throw CancellationError() }
            throw failure(error)
        }
    }
}

/// A part of a list of objects.
public struct S3Page: Sendable {
    /// One object.
    public struct Object: Sendable, Hashable {
        /// Relative to the prefix.
        public let name: String
        /// In bytes.
        public let size: UInt64
        /// When it was stored, seconds since 1970 by the server's clock.
        public let stored: Double?
    }

    /// The objects of this page.
    public let objects: [Object]
    /// Asks for the next page; `nil` on the last.
    public let next: String?
    /// The server's clock, seconds since 1970; `nil` if it did not send it.
    public let serverTime: Double?

    init(_ document: S3Document, prefix: String, serverDate: String?) {
        objects = document.all("Contents").compactMap { entry in
            guard let key = entry.text("Key"), key.hasPrefix(prefix), let size = entry.text("Size").flatMap(UInt64.init)
            else { return nil }
            return Object(
                name: String(key.dropFirst(prefix.count)), size: size,
                stored: entry.text("LastModified").flatMap(S3Page.seconds))
        }
        next = document.text("IsTruncated") == "true" ? document.text("NextContinuationToken") : nil
        serverTime = serverDate.flatMap(HTTPDate.secondsSince1970).map { Double($0) }
    }

    /// Reads `2026-11-21T03:29:37.000Z`, with or without the fraction.
    static func seconds(_ text: String) -> Double? {
        let whole = text.split(separator: ".").first.map { $0.hasSuffix("Z") ? String($0) : "\($0)Z" } ?? text
        // Text that is no date gives `nil`, which callers treat as an unknown age.
        return try? Date(whole, strategy: .iso8601).timeIntervalSince1970
    }
}
