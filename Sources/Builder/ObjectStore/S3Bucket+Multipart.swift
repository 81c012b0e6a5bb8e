internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import S3
internal import TextFormats
internal import Transfer

/// Multipart uploads, for objects that are too large for one request; the object exists completely or not at all.
extension S3Bucket {
    /// Stores a file in parts, one after another; memory holds one of them.
    ///
    /// - Parameters:
    ///   - partBytes: Length of a part, at least S3's 5 MiB; longer when the file would have more than 10,000.
    ///   - size: The file's length, above zero.
    ///   - isNew: Whether an object of this name is not replaced, as far as the server compares that.
    /// - Returns: Whether it is stored; `false` when there is an object of this name that is not replaced.
    @discardableResult
    public func putParts(
        _ name: String, file: String, size: UInt64, partBytes: UInt64 = 16 << 20, isNew: Bool = false
    ) async throws -> Bool {
        if isNew, try await self.size(of: name) != nil { return false }
        let started = try await send(.post, name, query: [("uploads", "")])
        guard started.status == 200, let upload = S3Document(started.body).text("UploadId"), !upload.isEmpty else {
            throw refusal(of: started, "begin to store \(name)")
        }
        do {
            let tags = try await sendParts(
                of: name, file: file, size: size, upload: upload, partBytes: max(partBytes, (size + 9_999) / 10_000))
            guard try await complete(name, upload: upload, tags: tags, isNew: isNew) else {
                try? await abort(name, upload)  // The periodic clean-up removes it.
                return false
            }
            return true
        } catch {
            try? await abort(name, upload)  // The periodic clean-up removes the rest; the first error is reported.
            throw error
        }
    }

    /// Ends uploads that began more than `age` seconds ago and were not finished.
    ///
    /// - Returns: How many there were.
    public func abortUploads(olderThan age: Double) async throws -> Int {
        let prefix = location.key("")
        var count = 0
        var marker: [(String, String)] = []
        while true {
            let answer = try await send(
                .get, nil, query: [("max-uploads", "1000"), ("prefix", prefix), ("uploads", "")] + marker)
            guard answer.status == 200 else { throw refusal(of: answer, "list the unfinished uploads of") }
            let document = S3Document(answer.body)
            let now = answer.headers.date.flatMap(HTTPDate.secondsSince1970).map { Double($0) }
            for upload in document.all("Upload") {
                guard let key = upload.text("Key"), key.hasPrefix(prefix), let id = upload.text("UploadId"),
                    let begun = upload.text("Initiated").flatMap(S3Page.seconds),
                    (now ?? Date().timeIntervalSince1970) - begun > age
                else { continue }
                try await abort(String(key.dropFirst(prefix.count)), id)
                count += 1
            }
            guard document.text("IsTruncated") == "true", let key = document.text("NextKeyMarker"),
                let id = document.text("NextUploadIdMarker"), !key.isEmpty,
                marker.first?.1 != key || marker.last?.1 != id
            else { return count }
            marker = [("key-marker", key), ("upload-id-marker", id)]
        }
    }

    private func sendParts(
        of name: String, file: String, size: UInt64, upload: String, partBytes: UInt64
    ) async throws -> [String] {
        var tags: [String] = []
        var offset: UInt64 = 0
        while offset < size {
            let (start, count) = (offset, min(partBytes, size - offset))
            let bytes = try await FileWork.run { try Self.read(file, from: start, count: Int(count)) }
            let answer = try await send(
                .put, name, query: [("partNumber", "\(tags.count + 1)"), ("uploadId", upload)], upload: .bytes(bytes),
                sha256: Digest(of: bytes).hex)
            guard answer.status == 200, let tag = answer.headers.etag else {
                throw refusal(of: answer, "store part \(tags.count + 1) of \(name)")
            }
            tags.append(tag)
            offset += count
        }
        return tags
    }

    private func complete(_ name: String, upload: String, tags: [String], isNew: Bool) async throws -> Bool {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Self.escaped(tag))</ETag></Part>"
        }
        let body = Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8)
        func finish(_ headers: [HeaderField]) async throws -> TransferResponse {
            try await send(
                .post, name, query: [("uploadId", upload)], headers: headers, upload: .bytes(body),
                sha256: Digest(of: body).hex)
        }
        var answer = try await finish(isNew ? [PutCondition.absent.header] : [])
        if isNew, answer.status == 412 { return false }
        // Some servers compare for objects of one request only.
        if isNew, [400, 501].contains(answer.status) { answer = try await finish([]) }
        // A server that begins its answer early sends status 200 and reports a failure in the body.
        let isDone = answer.status == 200 && S3Document(answer.body).first("Error") == nil
        guard !isDone else { return true }
        // A repeated request does not find the upload if the first one succeeded.
        if answer.status == 404, answer.attempts > 1, try await self.size(of: name) != nil { return !isNew }
        throw refusal(of: answer, "finish \(name)")
    }

    private func abort(_ name: String, _ upload: String) async throws {
        let answer = try await send(.delete, name, query: [("uploadId", upload)])
        guard [200, 204, 404].contains(answer.status) else { throw refusal(of: answer, "give up \(name)") }
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }

    private static func read(_ path: String, from offset: UInt64, count: Int) throws -> [UInt8] {
        let file: FileHandle
        let bytes: Data?
        do {
            file = try FileHandle(forReadingFrom: URL(filePath: path))
            // The file was only read: closing it cannot lose data.
            defer { try? file.close() }
            try file.seek(toOffset: offset)
            bytes = try file.read(upToCount: count)
        } catch {
            throw S3Error(.fileFailed, "'\(path)' cannot be read: \(error.localizedDescription)")
        }
        guard let bytes, bytes.count == count else {
            throw S3Error(.fileFailed, "'\(path)' became shorter while it was sent.")
        }
        return Array(bytes)
    }
}
