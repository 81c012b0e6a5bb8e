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

    /// A hidden name as ``nextTo(_:)`` gives, of a file that is written while a ``FolderInUse`` holds its folder.
    package static func swept(nextTo target: URL) -> URL {
        target.deletingLastPathComponent().appendingPathComponent(
            ".\(target.lastPathComponent).\(random())\(sweptEnding)")
    }

    /// The files in the folder of `target` that have names of ``swept(nextTo:)``, and SQLite's journals of them.
    package static func abandoned(nextTo target: URL) -> [URL] {
        let folder = target.deletingLastPathComponent()
        // What cannot be listed is not removed.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let start = ".\(target.lastPathComponent)."
        return names.filter { name in
            guard name.hasPrefix(start) else { return false }
            let digits = name.dropFirst(start.count).prefix { $0 != "." }
            let ending = name.dropFirst(start.count + digits.count)
            return digits.utf8.count == 32 && digits.allSatisfy(\.isHexDigit)
                && (ending == sweptEnding || ending == "\(sweptEnding)-journal")
        }.map { folder.appendingPathComponent($0) }
    }

    private static let sweptEnding = ".new.tmp"

    /// A name in the system's folder for temporary files.
    ///
    /// - Parameter purpose: A word that tells a person what the file is.
    package static func forUse(as purpose: String) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-\(purpose)-\(random())")
    }
}
