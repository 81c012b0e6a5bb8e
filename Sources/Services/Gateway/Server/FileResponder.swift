internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import TextFormats
internal import WebRequests
internal import WebServer

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

    /// What is to be sent.
    private struct Plan {
        var status = HTTPResponse.Status.ok
        var headers: HTTPFields
        var parts: [Part] = []
        /// How the request for ranges is counted.
        var counts: [GatewayMetrics.RangeKind] = []
        /// Bytes that nginx sends; `nil` = the parts are sent here.
        var handedOver: UInt64?

        var length: UInt64 { parts.reduce(0) { $0 + $1.length } }
        /// The range, when it is all that is sent.
        var onlyRange: Range<UInt64>? { if parts.count == 1, case .bytes(let range) = parts[0] { range } else { nil } }
    }

    /// The answer.
    ///
    /// - Throws: ``Problem`` `not-found` for a file that was removed since the list was read, `damaged` for one with
    ///   another size.
    func respond(to request: Request) async throws(Problem) -> Response {
        let open = try await self.open()
        let plan = try self.plan(request, open)
        if let answer = bare(plan, request) { return answer.response }
        if let range = plan.onlyRange {
            let piece: ByteBuffer?
            do { piece = try await sender.piece(range, of: open) } catch {
                throw Problem(.damaged, "'\(file.path)' cannot be read on the server.")
            }
            if let piece { return answer(plan, piece).response }
        }
        plan.counts.forEach(metrics.range)
        return Response(status: plan.status, headers: plan.headers, body: body(plan.parts, of: open))
    }

    /// The answer when the file is open and the system has what is asked for in memory; else `nil`.
    ///
    /// - Throws: ``Problem`` for a request that is refused.
    func answerNow(to request: Request) throws(Problem) -> WholeAnswer? {
        guard let open = folder.openFile(file.path), open.size == file.size else { return nil }
        let plan = try self.plan(request, open)
        if let answer = bare(plan, request) { return answer }
        guard let range = plan.onlyRange, range.count <= sender.mostAtOnce,
            let piece = open.readAtOnce(at: range.lowerBound, count: range.count)
        else { return nil }
        return answer(plan, piece)
    }

    private func plan(_ request: Request, _ open: OpenFile) throws(Problem) -> Plan {
        let validators = Conditions.Validators(tag: file.tag, modified: open.modified)
        let headers = self.headers(open)
        switch Conditions(request.headers).outcome(validators) {
        case .failed:
            throw Problem(.preconditionFailed, "The file has the tag \(file.tag).", headers: [.eTag: "\(file.tag)"])
        case .notModified:
            var plan = Plan(status: .notModified, headers: headers)
            plan.headers[.contentType] = nil
            plan.headers[.contentDisposition] = nil
            return plan
        case .proceed(let isRanged):
            // Ranges are defined for GET only.
            let range = request.method == .get ? request.headers[.range] : nil
            // nginx compares If-Range with a tag of its own making, so these requests are answered here.
            if let accelerated, request.headers[.ifRange] == nil {
                return handedOver(to: accelerated, RangeSet(range, size: file.size), headers)
            }
            var plan = try self.plan(RangeSet(isRanged ? range : nil, size: file.size), headers)
            if range != nil, !isRanged { plan.counts.append(.stale) }
            return plan
        }
    }

    /// The answer that has no byte of the file; `nil` when some are to be sent.
    private func bare(_ plan: Plan, _ request: Request) -> WholeAnswer? {
        guard plan.parts.isEmpty || request.method == .head else { return nil }
        plan.counts.forEach(metrics.range)
        if let bytes = plan.handedOver { onSend(bytes) }
        var headers = plan.headers
        headers[.contentLength] = String(plan.length)
        return WholeAnswer(status: plan.status, headers: headers)
    }

    /// The answer with the only range of the plan.
    private func answer(_ plan: Plan, _ piece: ByteBuffer) -> WholeAnswer {
        plan.counts.forEach(metrics.range)
        onSend(UInt64(piece.readableBytes))
        return WholeAnswer(status: plan.status, headers: plan.headers, body: piece)
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
            folder.keep(open)
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

    private func plan(_ ranges: RangeSet, _ headers: HTTPFields) throws(Problem) -> Plan {
        var plan = Plan(headers: headers)
        switch ranges {
        case .whole: plan.parts = file.size > 0 ? [.bytes(0..<file.size)] : []
        case .one(let range):
            plan.counts = [.one]
            plan.status = .partialContent
            plan.headers[.contentRange] = contentRange(range)
            plan.parts = [.bytes(range)]
        case .several(let ranges):
            plan.counts = [.several]
            plan.status = .partialContent
            let boundary = "packhorse-\(file.digest.hex.prefix(32))"
            for range in ranges {
                let head =
                    "\r\n--\(boundary)\r\nContent-Type: \(file.mediaType)\r\nContent-Range: \(contentRange(range))\r\n\r\n"
                plan.parts += [.text(head), .bytes(range)]
            }
            plan.parts.append(.text("\r\n--\(boundary)--\r\n"))
            plan.headers[.contentType] = "multipart/byteranges; boundary=\(boundary)"
        case .unsatisfiable:
            metrics.range(.unsatisfiable)
            throw Problem(
                .unsatisfiableRange, "The file has \(file.size) bytes.",
                headers: [.contentRange: "bytes */\(file.size)", .eTag: "\(file.tag)"])
        }
        return plan
    }

    /// Lets nginx send the file, or the ranges of it that the request asks for.
    private func handedOver(to prefix: String, _ ranges: RangeSet, _ headers: HTTPFields) -> Plan {
        var plan = Plan(headers: headers)
        plan.headers.set(.xAccelRedirect, prefix + file.path)
        switch ranges {
        case .whole: plan.handedOver = file.size
        case .one(let range): (plan.counts, plan.handedOver) = ([.one], UInt64(range.count))
        case .several(let ranges):
            (plan.counts, plan.handedOver) = ([.several], ranges.reduce(0) { $0 + UInt64($1.count) })
        case .unsatisfiable: plan.counts = [.unsatisfiable]
        }
        return plan
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
