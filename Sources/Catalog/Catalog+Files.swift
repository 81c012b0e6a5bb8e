internal import Foundation
internal import Shards

extension Catalog {
    /// Puts the file at the first version after `last` that is free, and returns that version.
    ///
    /// A version may be taken although no list names it: by a process that died between the file and the list. It is used when
    /// it is the same file, and passed over otherwise, because a version's bytes never change.
    func place(_ request: PublishRequest, after last: Int32) throws(CatalogError) -> Int32 {
        try checkFile(request)
        var version = last
        while version < Int32.max {
            version += 1
            let target = place(CatalogEntry.path(request.id, version))
            guard let size = try fileSize(target) else {
                try bring(request, to: target)
                return version
            }
            let digest = try CatalogError.naming { () throws(ShardsError) in try Digest.ofFile(target).digest }
            if size == request.size && digest == request.digest { return version }
        }
        throw CatalogError(.badRequest, "Package '\(request.id)' has used up its versions.")
    }

    /// Puts the file of a listed version back that is gone or was cut.
    func place(_ request: PublishRequest, at target: URL) throws(CatalogError) {
        try checkFile(request)
        try CatalogError.naming { () throws(ShardsError) in try Durable.remove(target) }
        try bring(request, to: target)
    }

    /// Bytes of a file, `nil` when it is not there.
    func fileSize(_ url: URL) throws(CatalogError) -> UInt64? {
        var status = stat()
        if stat(url.path, &status) == 0 { return UInt64(max(0, status.st_size)) }
        let number = errno
        if number == ENOENT { return nil }
        throw try CatalogError.naming { () throws(ShardsError) in throw ShardsError.system(number, "inspect", url.path)
        }
    }

    private func checkFile(_ request: PublishRequest) throws(CatalogError) {
        let (digest, size) = try CatalogError.naming { () throws(ShardsError) in try Digest.ofFile(request.file) }
        guard digest == request.digest, size == request.size else {
            throw CatalogError(
                .badFile,
                "'\(request.file.path)' has \(size) bytes and SHA-256 \(digest); \(request.size) bytes and \(request.digest) were "
                    + "announced for package '\(request.id)'. Merge it again.")
        }
    }

    /// Links the file, or copies it to where a link cannot reach, flushes it and gives it its name.
    private func bring(_ request: PublishRequest, to target: URL) throws(CatalogError) {
        try CatalogError.naming { () throws(ShardsError) in
            let parent = target.deletingLastPathComponent()
            try Durable.makeFolder(parent)
            if link(request.file.path, target.path) == 0 { return try Durable.sync(folder: parent) }
            let number = errno
            guard [EXDEV, EPERM, EMLINK, ENOSYS, EOPNOTSUPP].contains(number) else {
                throw ShardsError.system(number, "link", target.path)
            }
            try Durable.copy(request.file, to: target)
        }
    }
}

extension PublishRequest {
    /// Refuses what a client could not read or a file system not hold.
    func check() throws(CatalogError) {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-(),")
        guard 1...120 ~= id.utf8.count, id.allSatisfy(allowed.contains), !id.hasPrefix(".") else {
            throw CatalogError(
                .badRequest, "'\(id.prefix(130))' cannot be a package id: use 1 to 120 letters, digits and . _ - ( ) ,")
        }
        let parts = maskWire.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let zoom = Int(parts[1]), 0...22 ~= zoom else {
            throw CatalogError(
                .badRequest, "Package '\(id)' needs its mask as text:maxZoom; '\(maskWire.suffix(40))' is not that.")
        }
        guard names.keys.allSatisfy({ !$0.isEmpty }), names.values.allSatisfy({ !$0.isEmpty }) else {
            throw CatalogError(.badRequest, "Package '\(id)' has an empty name or language.")
        }
        guard size <= UInt64(Int64.max) else {
            throw CatalogError(.badRequest, "Package '\(id)' is too large to list.")
        }
    }
}
