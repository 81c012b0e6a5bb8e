internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import TextFormats
internal import WebRequests

/// Answers with a file of the catalog: whole, in ranges, or not at all.
struct FileResponder: Sendable {
    let folder: CatalogFolder
    let file: ServedFile
    /// Whether the client asks for a file to save.
    let isDownload: Bool
    let metrics: GatewayMetrics
    /// The path of nginx below which it has the catalog's folder; `nil` = the gateway sends the bytes itself.
    let accelerated: String?
    let sender: BodySender
    /// Called with the bytes of a body that are about to be sent.
    let onSend: @Sendable (UInt64) -> Void

    /// The answer.
    ///
    /// - Throws: ``Problem`` `not-found` for a file that was removed since the list was read, `damaged` for one with
    ///   another size.
    func respond(to request: Request) async throws(Problem) -> Response {
        let open = try await self.open()
        let validators = Conditions.Validators(tag: file.tag, modified: open.modified)
        var headers = self.headers(open)
        switch Conditions(request.headers).outcome(validators) {
        case .failed:
            throw Problem(.preconditionFailed, "The file has the tag \(file.tag).", headers: [.eTag: "\(file.tag)"])
        case .notModified:
            headers[.contentType] = nil
            headers[.contentDisposition] = nil
            return Response(status: .notModified, headers: headers)
        case .proceed(let isRanged):
            // Ranges are defined for GET only.
            let range = request.method == .get ? request.headers[.range] : nil
            if range != nil, !isRanged { metrics.range(.stale) }
            // nginx compares If-Range with a tag of its own making, so these requests are answered here.
            if let accelerated, request.headers[.ifRange] == nil {
                return handedOver(to: accelerated, RangeSet(range, size: file.size), headers)
            }
            return try await response(RangeSet(isRanged ? range : nil, size: file.size), of: open, headers: headers)
        }
    }

    private func open() async throws(Problem) -> OpenFile {
        let (folder, path) = (folder, file.path)
        let found: Result<OpenFile, GatewayError>
        do { found = .success(try await FileWork.run { try folder.file(path) }) } catch {
            found = .failure(error as? GatewayError ?? GatewayError(.unreadable, "\(error)", cause: error))
        }
        switch found {
        case .success(let open):
            guard open.size == file.size else {
                throw Problem(
                    .damaged, "'\(path)' has \(open.size) bytes; the catalog says \(file.size).")
            }
            return open
        case .failure(let error):
            guard error.code == .catalogMissing else {
                throw Problem(.damaged, "'\(path)' cannot be read on the server.")
            }
            throw Problem(.notFound, "'\(path)' was removed from the catalog.")
        }
    }

    private func headers(_ open: OpenFile) -> HTTPFields {
        var headers: HTTPFields = [
            .eTag: "\(file.tag)", .lastModified: HTTPDate.text(secondsSince1970: open.modified),
            .cacheControl: "public, max-age=31536000, immutable", .acceptRanges: "bytes",
            .contentType: file.mediaType,
        ]
        headers.set(.reprDigest, file.reprDigest)
        if !file.links.isEmpty { headers.set(.link, file.links) }
        // The name is a part of a path of the catalog, which needs no escaping.
        if isDownload { headers[.contentDisposition] = "attachment; filename=\"\(file.name)\"" }
        return headers
    }

    private func response(
        _ ranges: RangeSet, of open: OpenFile, headers: HTTPFields
    ) async throws(Problem) -> Response {
        var headers = headers
        switch ranges {
        case .whole:
            return Response(status: .ok, headers: headers, body: body([.bytes(0..<file.size)], of: open))
        case .one(let range):
            metrics.range(.one)
            headers[.contentRange] = contentRange(range)
            return Response(status: .partialContent, headers: headers, body: try await body(range, of: open))
        case .several(let ranges):
            metrics.range(.several)
            let boundary = "packhorse-\(file.digest.hex.prefix(32))"
            var parts: [Part] = []
            for range in ranges {
                let head =
                    "\r\n--\(boundary)\r\nContent-Type: \(file.mediaType)\r\nContent-Range: \(contentRange(range))\r\n\r\n"
                parts += [.text(head), .bytes(range)]
            }
            parts.append(.text("\r\n--\(boundary)--\r\n"))
            headers[.contentType] = "multipart/byteranges; boundary=\(boundary)"
            return Response(status: .partialContent, headers: headers, body: body(parts, of: open))
        case .unsatisfiable:
            metrics.range(.unsatisfiable)
            throw Problem(
                .unsatisfiableRange, "The file has \(file.size) bytes.",
                headers: [.contentRange: "bytes */\(file.size)", .eTag: "\(file.tag)"])
        }
    }

    /// Lets nginx send the file, or the ranges of it that the request asks for.
    private func handedOver(to prefix: String, _ ranges: RangeSet, _ headers: HTTPFields) -> Response {
        var headers = headers
        headers.set(.xAccelRedirect, prefix + file.path)
        switch ranges {
        case .whole: onSend(file.size)
        case .one(let range):
            metrics.range(.one)
            onSend(UInt64(range.count))
        case .several(let ranges):
            metrics.range(.several)
            onSend(ranges.reduce(0) { $0 + UInt64($1.count) })
        case .unsatisfiable: metrics.range(.unsatisfiable)
        }
        return Response(status: .ok, headers: headers)
    }

    private func contentRange(_ range: Range<UInt64>) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
    }

    // MARK: - Bodies

    private enum Part: Sendable {
        case text(String)
        case bytes(Range<UInt64>)

        var length: UInt64 {
            switch self {
            case .text(let text): UInt64(text.utf8.count)
            case .bytes(let range): UInt64(range.count)
            }
        }
    }

    /// A body of one range: in one write when it is short.
    private func body(_ range: Range<UInt64>, of file: OpenFile) async throws(Problem) -> ResponseBody {
        let short: ByteBuffer?
        do { short = try await sender.piece(range, of: file) } catch {
            throw Problem(.damaged, "'\(self.file.path)' cannot be read on the server.")
        }
        guard let short else { return body([.bytes(range)], of: file) }
        onSend(UInt64(range.count))
        return ResponseBody(byteBuffer: short)
    }

    /// A body of parts with the sum of their lengths; a failed read ends the connection, so that the client sees an
    /// incomplete body.
    private func body(_ parts: [Part], of file: OpenFile) -> ResponseBody {
        let length = parts.reduce(0) { $0 + $1.length }
        guard length > 0 else { return ResponseBody() }
        return ResponseBody(contentLength: Int(clamping: length)) { [sender, onSend] writer in
            onSend(length)
            for part in parts {
                switch part {
                case .text(let text): try await writer.write(ByteBuffer(string: text))
                case .bytes(let range): try await sender.send(range, of: file, to: &writer)
                }
            }
            try await writer.finish(nil)
        }
    }
}

extension Conditions {
    /// The conditions of a request.
    init(_ headers: HTTPFields) {
        self.init(
            ifMatch: headers[.ifMatch], ifUnmodifiedSince: headers[.ifUnmodifiedSince],
            ifNoneMatch: headers[.ifNoneMatch], ifModifiedSince: headers[.ifModifiedSince],
            ifRange: headers[.ifRange])
    }
}
