internal import CatalogFormat
internal import Digests
internal import Errors
internal import Files
internal import Foundation

extension Catalog {
    /// Puts the request's files into the catalog: into the last version if no file of it changes, otherwise into a
    /// version after `last`.
    ///
    /// - Returns: The version, and whether it already listed all of the files.
    func place(
        _ request: PublishRequest, _ previous: CatalogEntry?, after last: Int32
    ) throws(CatalogError) -> (version: Int32, isSame: Bool) {
        let edition = request.options.edition
        // A companion for another engine is another version, so that devices learn it.
        guard let previous, previous.sha256 == request.digest.hex, previous.companion == request.entry?.companion else {
            return (try placeAnew([request], after: last), false)
        }
        var added: [PublishFile] = []
        for file in request.allFiles {
            if let listed = previous.allFiles.first(where: { $0.format == file.format }) {
                guard listed.sha256 == file.digest.hex, listed.fileExtension == file.fileExtension else {
                    return (try placeAnew([request], after: last), false)
                }
            } else {
                let target = place(previous.path(file.fileExtension), edition)
                guard try holds(target, file) != .otherBytes else {
                    return (try placeAnew([request], after: last), false)
                }
                added.append(file)
            }
        }
        for file in request.allFiles {
            let target = place(previous.path(file.fileExtension), edition)
            guard try fileSize(target) != file.size else { continue }
            // A listed file that is missing or truncated is restored.
            try replace(target, with: file, of: request.id)
        }
        return (previous.version, added.isEmpty)
    }

    /// Puts the files of packages at the first version after `last` that is free for all of them, and returns that version.
    ///
    /// A version can exist although no list names it: a process died after it wrote the files and before it wrote the
    /// list. Such a version is used if it has the same files, and skipped otherwise, because the bytes of a version
    /// never change.
    func placeAnew(_ requests: [PublishRequest], after last: Int32) throws(CatalogError) -> Int32 {
        let files = requests.flatMap { request in request.allFiles.map { (request, $0) } }
        for (request, file) in files { try checkFile(file, of: request.id) }
        var version = last
        candidates: while version < Int32.max {
            version += 1
            var missing: [(file: PublishFile, target: URL)] = []
            for (request, file) in files {
                let target = place(
                    CatalogEntry.path(request.id, version: version, fileExtension: file.fileExtension),
                    request.options.edition)
                switch try holds(target, file) {
                case .nothing: missing.append((file, target))
                case .sameBytes: continue
                case .otherBytes: continue candidates
                }
            }
            for (file, target) in missing { try linkOrCopy(file.url, to: target) }
            return version
        }
        throw CatalogError(.badRequest, "Package '\(requests.first?.id ?? "")' has used up its versions.")
    }

    /// Puts a file at a path, and replaces an unusable file that may be there.
    func replace(_ target: URL, with file: PublishFile, of id: String) throws(CatalogError) {
        try checkFile(file, of: id)
        try CatalogError.naming { () throws(StorageError) in try Durable.remove(target) }
        try linkOrCopy(file.url, to: target)
    }

    private enum Holding { case nothing, sameBytes, otherBytes }

    private func holds(_ target: URL, _ file: PublishFile) throws(CatalogError) -> Holding {
        guard let size = try fileSize(target) else { return .nothing }
        guard size == file.size else { return .otherBytes }
        let digest = try CatalogError.naming { () throws(StorageError) in try Digest.ofFile(target).digest }
        return digest == file.digest ? .sameBytes : .otherBytes
    }

    /// Length of a file in bytes; `nil` if it does not exist.
    func fileSize(_ url: URL) throws(CatalogError) -> UInt64? {
        var status = stat()
        if stat(url.path, &status) == 0 { return UInt64(max(0, status.st_size)) }
        let number = errno
        if number == ENOENT { return nil }
        throw try CatalogError.naming { () throws(StorageError) in
            throw StorageError.system(number, action: "inspect", path: url.path)
        }
    }

    private func checkFile(_ file: PublishFile, of id: String) throws(CatalogError) {
        let (digest, size) = try CatalogError.naming { () throws(StorageError) in try Digest.ofFile(file.url) }
        guard digest == file.digest, size == file.size else {
            throw CatalogError(
                .badFile,
                "'\(file.url.path)' has \(size) bytes and SHA-256 \(digest); \(file.size) bytes and \(file.digest) were "
                    + "announced for package '\(id)'. Merge it again.")
        }
    }

    /// Links the file, or copies it if it is on another file system; flushes it and renames it to its final name.
    private func linkOrCopy(_ source: URL, to target: URL) throws(CatalogError) {
        try CatalogError.naming { () throws(StorageError) in
            let parent = target.deletingLastPathComponent()
            try Durable.makeFolder(parent)
            if link(source.path, target.path) == 0 { return try Durable.sync(folder: parent) }
            let number = errno
            guard [EXDEV, EPERM, EMLINK, ENOSYS, EOPNOTSUPP].contains(number) else {
                throw StorageError.system(number, action: "link", path: target.path)
            }
            try Durable.copy(source, to: target)
        }
    }
}
