extension CatalogEntry {
    /// Format and extension of the main file of a map whose entry names no format.
    package static let mainFile = (format: "mbtiles", fileExtension: ".mbtiles")

    /// The formats that the main file of a map can have, with their extensions.
    package static let mainFiles = [mainFile, (format: "pmtiles", fileExtension: ".pmtiles")]

    /// The main file of a map by what its entry says.
    package static func main(_ format: String?) -> (format: String, fileExtension: String) {
        mainFiles.first { $0.format == format } ?? mainFile
    }

    /// Whether a text from a catalog is a valid package id: it can be a file name and part of an address without
    /// escaping.
    package static func isID(_ id: String) -> Bool {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-(),")
        return 1...120 ~= id.utf8.count && id.allSatisfy(allowed.contains) && !id.hasPrefix(".")
    }
}
