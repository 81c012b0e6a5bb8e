internal import CatalogFormat
internal import Errors
internal import Foundation

extension MapStore {
    /// What can be given to another device.
    ///
    /// Patches, tile packs, adopted files and what was filled from tile servers are not part of it. The digests are those of
    /// the installation: compare them before a file is given away.
    ///
    /// - Parameter known: An earlier answer. While an update is under way, more of its newest versions are installed than of
    ///   those of the new list: then its list is given further on.
    /// - Throws: `not-in-catalog` when no list was read since the store was made; `storage`.
    package func share(after known: MapShare? = nil) async throws(StoreError) -> MapShare {
        let view = try await worker.view()
        guard let documents = try await worker.read({ try $0.documents() }) else {
            throw StoreError(
                .notInCatalog, "The store has no list of a catalog.", advice: "Read it first: packhorse device update.")
        }
        let folder = worker.folder
        return try await worker.onFiles {
            var places: [String: URL] = [:]
            for file in view.rows.readable where !file.isAdopted {
                places[Self.name(file.item.identifier, format: file.format.name, file.sha256)] = folder.place(of: file)
            }
            func filled(_ share: MapShare) -> MapShare {
                var share = share
                share.files = [:]
                for entry in share.listed.values {
                    guard let place = places[Self.name(entry.fileID, format: entry.format, entry.sha256)] else {
                        continue
                    }
                    share.files[entry.path] = MapShare.File(listed: entry, place: place)
                }
                return share
            }
            let list = Data(documents.list)
            if let known, known.list == list { return filled(known) }
            let new = filled(
                MapShare(
                    list: list, signature: documents.signature.map { Data($0) },
                    listed: try Self.listed(documents.list), files: [:]))
            guard let old = known.map(filled), old.newestFiles > new.newestFiles else { return new }
            return old
        }
    }

    /// What a file is known by: other packages may have the same bytes.
    private static func name(_ id: String, format: String, _ sha256: String) -> String { "\(id)/\(format)/\(sha256)" }

    /// All files of a list, by their paths.
    private static func listed(_ list: [UInt8]) throws(StoreError) -> [String: MapShare.Listed] {
        let index: CatalogIndex
        do throws(CatalogError) { index = try CatalogIndex(decoding: list) } catch {
            throw StoreError(.damaged, "The list that the store keeps cannot be read: \(error.message)", cause: error)
        }
        var editions: [String: CatalogIndex.Edition] = [:]
        for edition in index.editions { editions[edition.path] = edition }
        var listed: [String: MapShare.Listed] = [:]
        for package in index.packages {
            for version in package.versions {
                for file in version.files {
                    listed[file.url] = MapShare.Listed(
                        path: file.url, id: package.part?.of ?? package.id, fileID: package.id,
                        group: editions[package.edition]?.group,
                        language: editions[package.edition]?.language, version: version.version, format: file.format,
                        kind: version.companion?.kind, isNewest: version.version == package.versions.first?.version,
                        size: UInt64(clamping: file.size), sha256: file.sha256)
                }
            }
        }
        for style in index.styles ?? [] {
            listed[style.url] = MapShare.Listed(
                path: style.url, id: style.id, fileID: style.id, version: style.version, format: "style",
                isNewest: true,
                size: UInt64(clamping: style.size), sha256: style.sha256)
        }
        return listed
    }
}
