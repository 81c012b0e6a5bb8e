/// How a client, which may have an earlier version, gets the newest one.
public enum InstallPlan: Sendable, Hashable {
    /// The client already has exactly these bytes.
    case upToDate
    /// Fetch a patch and apply it to the installed file.
    case patch(CatalogIndex.Patch)
    /// Fetch the whole file.
    case whole

    /// Chooses by ``PatchRule``.
    ///
    /// - Parameters:
    ///   - version: The newest version.
    ///   - format: The client's format; patches exist only for `mbtiles`.
    ///   - sha256: SHA-256 of the client's file, computed now; `nil` without a file.
    ///   - installed: The version of the file; `nil` if unknown.
    /// - Returns: `nil` when the version has no file of that format.
    public init?(
        to version: CatalogIndex.Version, format: String, having sha256: String?, installed: Int32?
    ) {
        guard let file = version.file(format) else { return nil }
        if sha256 == file.sha256 {
            self = .upToDate
        } else if format == CatalogEntry.mainFile.format, sha256 != nil, let installed,
            let patch = version.patches.first(where: { $0.from == installed }),
            PatchRule.pays(patch: patch.size, whole: file.size)
        {
            self = .patch(patch)
        } else {
            self = .whole
        }
    }

    /// Bytes to fetch.
    public func bytes(of file: CatalogIndex.File) -> Int64 {
        switch self {
        case .upToDate: 0
        case .patch(let patch): patch.size
        case .whole: file.size
        }
    }
}
