public import Foundation

/// Real map tiles, which the repository does not contain; tests that need them are skipped where they are absent.
///
/// Their folder is `data` in `$PACKHORSE_SHARED`, or in the folder `shared` next to the checkout.
public enum RealData {
    /// All files that tests use.
    private static let names = [
        "liechtenstein-2013.mbtiles", "monaco-2012.mbtiles", "monaco-2021.mbtiles", "stamen-toner-z0-3.pmtiles",
        "whitney-8-15.pmtiles",
    ]

    /// The folder of the files; it need not exist.
    public static let folder: URL = {
        let shared = ProcessInfo.processInfo.environment["PACKHORSE_SHARED"].map { URL(filePath: $0) }
        return (shared ?? Checkout.folder.deletingLastPathComponent().appending(path: "shared")).appending(path: "data")
    }()

    /// Why the tests are skipped; `nil` when all files are there.
    ///
    /// The first call prints the reason to standard error.
    public static let absence: String? = {
        let missing = names.filter { !FileManager.default.fileExists(atPath: folder.appending(path: $0).path) }
        guard !missing.isEmpty else { return nil }
        let reason = "'\(folder.path)' lacks \(missing.joined(separator: ", ")); PACKHORSE_SHARED names another folder"
        FileHandle.standardError.write(Data("Tests of real tiles are skipped: \(reason)\n".utf8))
        return reason
    }()

    /// The place of a file; it need not exist.
    public static func file(_ name: String) -> URL { folder.appending(path: name) }
}
