extension CatalogEntry {
    /// The main file's format and extension.
    package static let mainFile = (format: "mbtiles", fileExtension: ".mbtiles")

    /// Whether a text from a catalog is a valid package id: it can be a file name and part of an address without
    /// escaping.
    package static func isID(_ id: String) -> Bool {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-(),")
        return 1...120 ~= id.utf8.count && id.allSatisfy(allowed.contains) && !id.hasPrefix(".")
    }
}
