package import Foundation
internal import TextFormats

/// Names of files and folders that exist only for a while, and random ids.
package enum TemporaryName {
    /// 32 random hexadecimal digits: two calls never give the same.
    package static func random() -> String {
        Hexadecimal.text((0..<16).map { _ in UInt8.random(in: 0...UInt8.max) })
    }

    /// A hidden name in the folder of `target`, for a file that is renamed to `target` when it is finished.
    package static func nextTo(_ target: URL) -> URL {
        target.deletingLastPathComponent().appendingPathComponent(".\(target.lastPathComponent).\(random()).tmp")
    }

    /// A name in the system's folder for temporary files.
    ///
    /// - Parameter purpose: A word that tells a person what the file is.
    package static func forUse(as purpose: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-\(purpose)-\(random())")
    }
}
