import CatalogFormat
package import Digests
import Errors
internal import Files
package import Foundation
internal import TextFormats
import Transfer

/// A catalog as clients see it: in a folder, or on any web server.
package struct CatalogSource: Sendable {
    private enum Access: Sendable {
        case folder(URL)
        case web(TransferClient)
    }
    private let access: Access
    /// Where it is.
    package let place: CatalogLocation

    /// Names a catalog.
    ///
    /// Nothing is read yet.
    ///
    /// - Parameters:
    ///   - text: As in ``CatalogLocation``.
    ///   - token: Sent to the web server as `Authorization: Bearer`, and never to another host; no space, no line break.
    package init(_ text: String, token: String? = nil) throws {
        place = try CatalogLocation(text)
        let address: String
        switch place {
        case .folder(let folder):
            access = .folder(folder)
            return
        case .web(let named): address = named
        }
        var options = TransferOptions()
        options.concurrency = 4
        options.maxBodyBytes = CatalogIndex.maxBytes
        // A long download is stopped only when it stalls, not because it takes long.
        options.totalTimeout = .seconds(86_400)
        options.stallTimeout = .seconds(30)
        options.userAgent = ProgramVersion.userAgent
        // Five redirects are followed (the client's default). None may lead from https to http.
        // The digests of a catalog are those of its files as they are.
        options.acceptsGzip = false
        if let token { options.headers = [HeaderField("Authorization", "Bearer \(token)")] }
        if address.lowercased().hasPrefix("https://") {
            options.redirectRefusal = { target in
                target.lowercased().hasPrefix("https://") ? nil : "a redirect leads from https to http"
            }
        }
        access = .web(try TransferClient(options))
    }

    /// The folder or address, ending in a slash.
    package var name: String { place.name }

    /// The folder; `nil` for a web server.
    package var folder: URL? { if case .folder(let url) = place { url } else { nil } }

    /// A document of the catalog, or `nil` when it does not exist.
    package func read(_ path: String) async throws -> [UInt8]? {
        switch access {
        case .folder(let folder):
            let file = folder.appending(path: path)
            return try ReadFile.ifPresent(file)
        case .web(let client):
            let answer: TransferResponse
            do throws(TransferError) { answer = try await client.get(name + path) } catch {
                guard error.code.exitStatus == .unavailable, error.code != .cancelled else { throw error }
                throw place.unreachable(error.message, cause: error)
            }
            guard answer.status != 404 else { return nil }
            guard answer.status == 200, answer.headers.codings.isEmpty else { throw refusal(path, answer) }
            return answer.body
        }
    }

    /// A file of the catalog with exactly these bytes: the original when the catalog is a folder, else downloaded.
    ///
    /// - Parameter target: The file of the download, which continues an interrupted one.
    /// - Returns: The location; `nil` when the file does not exist.
    /// - Throws: ``CatalogTransferError`` `bad-catalog` when its bytes are different.
    package func file(_ path: String, size: UInt64, sha256: Digest, to target: URL) async throws -> URL? {
        // No file of a catalog is empty: each has at least a header.
        guard size > 0 else {
            throw CatalogTransferError(
                .badCatalog,
                "the catalog gives '\(name)\(path)' a size of 0 bytes, but no file of a catalog is empty [wrong-size]",
                hint: "report it to the publisher of the catalog; packhorse catalog verify checks it")
        }
        switch access {
        case .folder(let folder):
            let file = folder.appending(path: path)
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            let found = try await FileWork.run { try Digest.ofFile(file) }
            try Self.check(found, size: size, sha256: sha256, name: name + path)
            return file
        case .web(let client):
            // Bytes of an interrupted download are used once. If the complete file is wrong, all of it is fetched
            // again.
            let began = Self.size(target) > 0
            for isLast in began ? [false, true] : [true] {
                var before: UInt64?
                // A server that sends no length can end a response early without an error. While more data arrives, the
                // rest is requested.
                while Self.size(target) != size,
                    before.map({ $0 < Self.size(target) && Self.size(target) < size }) ?? true
                {
                    before = Self.size(target)
                    guard try await download(path, with: client, most: size, to: target) else { return nil }
                }
                let found = try await FileWork.run { try Digest.ofFile(target) }
                if found == (sha256, size) { return target }
                try Durable.remove(target)
                if isLast { try Self.check(found, size: size, sha256: sha256, name: name + path) }
            }
            return nil
        }
    }

    /// Whether the file exists.
    private func download(
        _ path: String, with client: TransferClient, most: UInt64, to target: URL
    ) async throws -> Bool {
        var request = TransferRequest(tag: 0, url: name + path)
        request.sink = TransferSink(path: target.path, maxBytes: max(1, most))
        var answer = try await client.send(request)
        if answer.status == 416 {
            // The local file is longer than the remote one and is not used.
            try Durable.remove(target)
            answer = try await client.send(request)
        }
        // A refusal leaves the file unchanged. An empty file is removed.
        if answer.status >= 300, Self.size(target) == 0 { try Durable.remove(target) }
        guard answer.status != 404 else { return false }
        guard answer.status == 200 || answer.status == 206, answer.headers.codings.isEmpty else {
            throw refusal(path, answer)
        }
        return true
    }

    private func refusal(_ path: String, _ answer: TransferResponse) -> CatalogTransferError {
        if let coding = answer.headers.contentEncoding {
            return CatalogTransferError(
                .unavailable, "'\(name)\(path)' is sent with Content-Encoding \(coding.prefix(40))",
                hint: "files of a catalog must be served unchanged; turn the server's compression off for them")
        }
        let isRefused = answer.status == 401 || answer.status == 403
        return CatalogTransferError(
            isRefused ? .permission : .unavailable,
            "'\(name)\(path)' was answered with HTTP status \(answer.status)",
            hint: isRefused ? CatalogLocation.tokenHint : nil)
    }

    private static func check(
        _ found: (digest: Digest, size: UInt64), size: UInt64, sha256: Digest, name: String
    ) throws {
        guard found.size == size else {
            throw CatalogTransferError(
                .badCatalog, "'\(name)' has \(found.size) bytes, the catalog says \(size) [wrong-size]")
        }
        guard found.digest == sha256 else {
            throw CatalogTransferError(
                .badCatalog, "the SHA-256 of '\(name)' is \(found.digest), the catalog says \(sha256) [wrong-digest]")
        }
    }

    private static func size(_ file: URL) -> UInt64 {
        var status = stat()
        return stat(file.path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }
}
