internal import Errors
internal import Files
internal import Foundation
internal import StyleFormat

extension FileInstaller {
    /// Adds a resource of a style to the part file of its file.
    ///
    /// - Parameter answer: `nil` when the server does not have it (404, 410).
    /// - Returns: Bytes of the resource; `nil` when there is none.
    /// - Throws: `network` with the cause `notFound` for one that clients need, `bad-file` with the cause `badBytes`
    ///   for bytes of another kind, `disk-full`, `storage`.
    static func fill(
        _ resource: StyleResource, _ details: DownloadDetails, answer: FetchedBody?, in folder: StoreFolder
    ) throws(StoreError) -> UInt64? {
        guard let part = folder.part(sha256: details.file.sha256) else {
            throw StoreError(.storage, "The style '\(details.file.item.identifier)' has no place in the store.")
        }
        do {
            let (bytes, etag) = try body(of: resource, details, answer)
            guard bytes != nil || resource.mayBeAbsent else {
                throw StoreError.failing(.notFound, "'\(resource.url)' does not exist, but the style needs it.")
            }
            try FilledStyle.put(resource, bytes, etag: etag, into: part)
            return bytes.map { UInt64($0.count) }
        } catch let error as StylesError where error.code == .badResource || error.code == .tooLarge {
            throw .failing(.badBytes, error.message, below: error)
        } catch { throw storeError(error, "A resource of a style cannot be stored.") }
    }

    private static func body(
        of resource: StyleResource, _ details: DownloadDetails, _ answer: FetchedBody?
    ) throws -> (bytes: Data?, etag: String?) {
        guard let answer, answer.status != 204 else { return (nil, nil) }
        if answer.status == 304 {
            // The installed pack has the same bytes.
            let pack = try details.base.map { try StylePack(StyleFiles.folder(of: $0)) }
            guard let pack, let entry = pack.entry(resource.url) else { return (nil, nil) }
            return (try pack.bytes(of: entry).map { Data($0) }, entry.etag)
        }
        if resource.kind == .style { _ = try StyleDocument([UInt8](answer.body)) }
        let bytes = try ResourceCheck.body(of: [UInt8](answer.body), contentEncoding: nil, resource)
        return (Data(bytes), answer.etag)
    }

    /// Moves a style that was downloaded to its place: the archive, and the same files unpacked for readers.
    ///
    /// - Returns: Bytes of the archive and of the files.
    static func prepareStyle(
        _ details: DownloadDetails, _ part: URL, at target: URL, source: CatalogOrigin?
    ) throws(StoreError) -> UInt64 {
        let home = target.deletingLastPathComponent()
        let new = newFolder(of: home)
        do {
            try removeFolder(new)
            let pack = StyleFiles.folder(of: new.appending(path: target.lastPathComponent))
            try Durable.makeFolder(pack)
            let (address, choice) = styleAddress(details.file.item.identifier)
            try FilledStyle.write(part, address: address, choice: choice, into: pack)
            let archive = new.appending(path: target.lastPathComponent)
            try StoredZip.write(try StylePack(pack).files, of: pack, to: archive)
            var installed = details.file
            installed.bytes = try FileDescriptor(reading: archive).size
            try Durable.write(
                try InstalledFileDocument(installed, source: source).encoded(),
                to: new.appending(path: InstalledFileDocument.name))
            try removeFolder(home)
            try Durable.rename(new, to: home)
            // After the folder has its name: until then a crash needs the part file again.
            try Durable.remove(part)
            return StyleFiles.bytes(target)
        } catch {
            if let failure = (error as? StylesError) {
                throw StoreError(
                    failure.code == .diskFull ? .diskFull : .badFile, failure.message, cause: failure,
                    isRetriable: failure.code == .diskFull)
            }
            throw storeError(error, "The style '\(details.file.item.identifier)' cannot be installed.")
        }
    }

    private static let ideographsMark = "#ideographs"

    /// The id of a style that regions load from its own address.
    static func styleID(_ address: String, ideographs: Bool) -> String {
        address + (ideographs ? ideographsMark : "")
    }

    static func styleAddress(_ id: String) -> (address: String, choice: StyleChoice) {
        let ideographs = id.hasSuffix(ideographsMark)
        return (String(id.dropLast(ideographs ? ideographsMark.count : 0)), StyleChoice(ideographs: ideographs))
    }
}
