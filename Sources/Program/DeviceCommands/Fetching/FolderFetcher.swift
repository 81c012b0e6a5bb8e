package import Foundation
package import OfflineMaps

/// Reads a catalog in a folder of this machine, in place of a web server.
///
/// A file is answered as a web server would: with an ETag, from an offset, and 404 when it does not exist.
package struct FolderFetcher: AnswerFetcher {
    private let folder: URL
    private static let chunk = 1 << 20

    /// Serves the files below a folder, and no others.
    package init(_ folder: URL) { self.folder = folder.standardizedFileURL }

    /// Reading ends with the process.
    package var continuesWhileSuspended: Bool { false }

    package func run(
        _ fetch: OngoingFetch, _ request: ResourceRequest, from offset: UInt64, progress: (UInt64) -> Void
    ) async throws(FetchError) -> OngoingFetch.Outcome {
        let file = request.url.standardizedFileURL
        guard request.url.isFileURL, file.path.hasPrefix(folder.path + "/"),
            !file.path.partsBetweenSlashes().contains("..")
        else {
            throw FetchError(.notAllowed, "'\(request.address)' is not below the folder '\(folder.path)'.")
        }
        let known = request.headers.first { $0.key.lowercased() == "if-none-match" }?.value
        let reading = Task.detached { Self.answer(fetch, file, from: offset, known: known) }
        await withTaskCancellationHandler {
            for await size in fetch.sizes { progress(size) }
        } onCancel: {
            reading.cancel()
        }
        await reading.value
        guard !Task.isCancelled else { throw FetchError(.connection, "The download was cancelled.") }
        let outcome = fetch.outcome
        if let failure = outcome.failure { throw failure }
        return outcome
    }

    /// Answers as a web server does.
    private static func answer(_ fetch: OngoingFetch, _ file: URL, from offset: UInt64, known: String?) {
        do {
            let values = try file.resourceValues(forKeys: [.isRegularFileKey, .contentModificationDateKey])
            guard values.isRegularFile == true else { throw CocoaError(.fileReadNoSuchFile) }
            let handle = try FileHandle(forReadingFrom: file)
            // The file was only read: closing it cannot lose data.
            defer { try? handle.close() }
            let size = try handle.seekToEnd()
            let changed = values.contentModificationDate?.timeIntervalSince1970 ?? 0
            let etag = "\"\(size)-\(Int64(changed * 1_000_000))\""
            if etag == known {
                _ = fetch.begin(304, ["etag": etag])
                return fetch.end(nil)
            }
            guard offset == 0 || offset < size else {
                _ = fetch.begin(416, ["content-range": "bytes */\(size)"])
                return fetch.end(nil)
            }
            var headers = ["etag": etag, "content-length": "\(size - offset)"]
            if offset > 0 { headers["content-range"] = "bytes \(offset)-\(size - 1)/\(size)" }
            var isWanted = fetch.begin(offset > 0 ? 206 : 200, headers)
            try handle.seek(toOffset: offset)
            while isWanted, !Task.isCancelled, let bytes = try handle.read(upToCount: chunk), !bytes.isEmpty {
                isWanted = fetch.receive(bytes)
            }
            fetch.end(nil)
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            _ = fetch.begin(404, [:])
            fetch.end(nil)
        } catch CocoaError.fileReadNoPermission {
            _ = fetch.begin(403, [:])
            fetch.end(nil)
        } catch { fetch.end("the file cannot be read: \(error.localizedDescription)") }
    }
}
