public import Foundation

/// The checkout that the tests were built from.
public enum Checkout {
    /// Its folder: the nearest one above this file that holds Package.swift.
    public static let folder: URL = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
        {
            folder.deleteLastPathComponent()
        }
        return folder
    }()

    /// A file of the corpus of the fuzzers, by its path there.
    public static func corpus(_ path: String) -> URL { folder.appending(path: "Tests/Corpus").appending(path: path) }
}
