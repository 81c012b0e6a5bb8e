internal import Errors
internal import Files
internal import Foundation
internal import StyleFormat
internal import Synchronization

/// The open style packs.
final class OpenStyles: Sendable {
    /// The most open archives; beyond it all are closed.
    static let maxStyles = 16

    private let packs = Mutex<[ServedFile: StoredZipFile]>([:])

    /// An entry of a style pack; `nil` when it has none of these names.
    ///
    /// - Throws: ``Problem`` `not-found`, `damaged`.
    func bytes(
        _ names: [String], of file: ServedFile, in folder: CatalogFolder
    ) async throws(Problem) -> [UInt8]? {
        let result: Result<[UInt8]?, any Error>
        do {
            result = .success(
                try await FileWork.run {
                    let pack = try self.pack(file, folder)
                    for name in names { if let bytes = try pack.bytes(name) { return bytes } }
                    return nil
                })
        } catch { result = .failure(error) }
        switch result {
        case .success(let bytes): return bytes
        case .failure(let error as GatewayError) where error.code == .catalogMissing:
            throw Problem(.notFound, "'\(file.path)' was removed from the catalog.")
        case .failure(let error):
            packs.withLock { $0[file] = nil }
            throw Problem(.damaged, "'\(file.path)' cannot be read: \(error)")
        }
    }

    private func pack(_ file: ServedFile, _ folder: CatalogFolder) throws -> StoredZipFile {
        if let known = packs.withLock({ $0[file] }) { return known }
        // Proves that no part of the path is a link, and that the file has the size that the catalog states.
        guard try folder.file(file.path).size == file.size else {
            throw GatewayError(.unreadable, "'\(file.path)' has another size than the catalog states.")
        }
        let pack = try StoredZipFile(URL(filePath: "\(folder.path)/\(file.path)"))
        packs.withLock { packs in
            if packs.count >= Self.maxStyles { packs.removeAll() }
            packs[file] = pack
        }
        return pack
    }
}
