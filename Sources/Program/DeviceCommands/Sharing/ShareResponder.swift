import CatalogFormat
import Digests
import Errors
import Files
import Foundation
internal import HTTPTypes
internal import HummingbirdCore
import Logging
internal import NIOCore
import OfflineMaps
internal import Telemetry
internal import TextFormats
internal import WebRequests

/// Answers one request of another device.
struct ShareResponder: Sendable {
    let shared: SharedFiles
    /// Whether only this machine can ask; then other names of it are refused.
    let isLocal: Bool
    /// That of the connection.
    let loop: any EventLoop
    let logger: Logger

    /// Bytes that are read at a time.
    private static let piece: UInt64 = 256 << 10

    /// The answer; errors become statuses.
    func respond(to request: Request) async -> Response {
        guard request.method == .get || request.method == .head else {
            return Self.text(.methodNotAllowed, "only GET and HEAD are answered here", more: [.allow: "GET, HEAD"])
        }
        // A page of another site could otherwise reach this server through a name that it points to 127.0.0.1.
        guard !isLocal || MapResponder.isOwn(request.head.authority) else {
            return Self.text(.misdirectedRequest, "this server answers only as 127.0.0.1 or localhost")
        }
        guard let segments = RequestPath(request.uri.string)?.segments else {
            return Self.text(.badRequest, "this is no path")
        }
        let response: Response
        do { response = try await answer(segments.joined(separator: "/"), request) } catch {
            // The message names paths of this machine.
            let message = (error as? StoreError)?.message ?? (error as? StorageError)?.message ?? "\(error)"
            logger.warning("The share cannot be read", metadata: [LogKey.errorMessage: "\(message)"])
            response = Self.text(.internalServerError, "the share cannot be read now")
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(_ path: String, _ request: Request) async throws -> Response {
        switch path {
        case "": return Self.text(.ok, "this is a share of offline maps: packhorse device install --catalog ADDRESS")
        case CatalogIndex.fileName: return document([UInt8](try await shared.share().list), request)
        case CatalogIndex.signatureName:
            guard let signature = try await shared.share().signature else {
                return Self.text(.notFound, "the catalog is not signed")
            }
            return document([UInt8](signature), request)
        case ShareManifest.fileName:
            return document(ShareManifest(try await shared.wholeFiles().map(\.listed)).encoded(), request)
        default: return try await file(path, request)
        }
    }

    /// A document with its entity tag, so that a reader can ask whether it has changed.
    private func document(_ bytes: [UInt8], _ request: Request) -> Response {
        let tag = EntityTag(Digest(of: bytes).hex)
        var headers: HTTPFields = [.eTag: "\(tag)", .cacheControl: "no-cache", .contentType: "application/json"]
        if request.headers[.ifNoneMatch].flatMap(EntityTags.init)?.matchWeakly(tag) ?? false {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func file(_ path: String, _ request: Request) async throws -> Response {
        let share = try await shared.share()
        guard let file = share.files[path], await shared.isWhole(file) else {
            return try await missing(path, in: share)
        }
        let opened: SharedHandle
        do { opened = try await FileWork.run { try SharedHandle(file.place) } } catch {
            // An update has removed it since the list was read.
            return try await missing(path, in: share)
        }
        guard opened.size == file.listed.size else { return try await missing(path, in: share) }
        let tag = EntityTag(file.listed.sha256)
        var headers: HTTPFields = [
            .eTag: "\(tag)", .cacheControl: "public, max-age=31536000, immutable", .acceptRanges: "bytes",
            .contentType: "application/octet-stream",
        ]
        if request.headers[.ifNoneMatch].flatMap(EntityTags.init)?.matchWeakly(tag) ?? false {
            headers[.contentType] = nil
            return Response(status: .notModified, headers: headers)
        }
        // Ranges are defined for GET only; of another file, the whole is sent.
        let isRanged = request.method == .get && request.headers[.ifRange].map { $0 == "\(tag)" } ?? true
        switch RangeSet(isRanged ? request.headers[.range] : nil, size: opened.size) {
        case .unsatisfiable:
            headers[.contentRange] = "bytes */\(opened.size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        case .one(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(opened.size)"
            return Response(status: .partialContent, headers: headers, body: body(range, of: opened))
        // A server may answer several ranges with the whole file.
        case .whole, .several: return Response(status: .ok, headers: headers, body: body(0..<opened.size, of: opened))
        }
    }

    /// A body that is read piece by piece; a failed read ends the connection, so that the client sees an incomplete body.
    private func body(_ range: Range<UInt64>, of file: SharedHandle) -> ResponseBody {
        ResponseBody(contentLength: Int(clamping: range.count)) { [loop] writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let (start, count) = (offset, Int(min(Self.piece, range.upperBound - offset)))
                let bytes = try await FileWork.run { try file.read(at: start, count: count) }
                try await writer.write(ByteBuffer(bytes: bytes))
                // A write returns before the loop has seen it: to a slow client they would pile up.
                await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
                offset += UInt64(count)
            }
            try await writer.finish(nil)
        }
    }

    /// Says what the share has in place of a file.
    private func missing(_ path: String, in share: MapShare) async throws -> Response {
        let has = ShareManifest(try await shared.wholeFiles().map(\.listed)).words
        guard let listed = share.listed[path] else {
            return Self.text(.notFound, "the share does not have '\(path)'; it has \(has)")
        }
        return Self.text(.notFound, "the share does not have \(ShareManifest([listed]).words); it has \(has)")
    }

    private static func text(_ status: HTTPResponse.Status, _ message: String, more: HTTPFields = [:]) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-cache"]
        headers.append(contentsOf: more)
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: message + "\n")))
    }
}
