import Foundation
import OfflineMaps

/// The fetcher of the device commands: files of a catalog's folder, and everything else over HTTP.
///
/// Only a catalog that the user named as a folder is read from the disk: a catalog or style of a web server cannot make
/// the program read a file.
struct DeviceFetcher: Fetcher {
    private let web: CurlFetcher
    private let files: FolderFetcher?

    /// - Parameter folder: The folder of the catalog; `nil` for a catalog on a web server.
    init(folder: URL?) throws {
        web = try CurlFetcher()
        files = folder.map { FolderFetcher($0) }
    }

    var continuesWhileSuspended: Bool { false }

    func body(_ request: ResourceRequest, limit: Int) async throws(FetchError) -> FetchedBody {
        if let files, request.url.isFileURL { return try await files.body(request, limit: limit) }
        return try await web.body(request, limit: limit)
    }

    func file(
        _ request: ResourceRequest, into part: URL, from offset: UInt64, limit: UInt64,
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        if let files, request.url.isFileURL {
            return try await files.file(request, into: part, from: offset, limit: limit, progress: progress)
        }
        return try await web.file(request, into: part, from: offset, limit: limit, progress: progress)
    }
}
