public import Foundation

/// A file that no process can remove until it is unlocked: an immutable one for root, one in a read-only folder for
/// others.
public final class LockedFile: Sendable {
    /// Where it is.
    public let url: URL
    private let isRoot = geteuid() == 0

    /// Whether files can be locked here: root needs a file system with attributes.
    public static let isPossible: Bool = {
        guard geteuid() == 0 else { return true }
        let url = FileManager.default.temporaryDirectory.appending(path: "packhorse-lock-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else { return false }
        let isLocked = chattr("+i", url)
        _ = chattr("-i", url)
        // What stays is a file without bytes.
        try? FileManager.default.removeItem(at: url)
        return isLocked
    }()

    /// Locks a file that exists.
    public init(_ url: URL) {
        self.url = url
        set(locked: true)
    }

    deinit { unlock() }

    /// Lets the file be removed.
    public func unlock() { set(locked: false) }

    private func set(locked: Bool) {
        if isRoot {
            _ = Self.chattr(locked ? "+i" : "-i", url)
        } else {
            chmod(url.deletingLastPathComponent().path, locked ? 0o555 : 0o755)
        }
    }

    private static func chattr(_ flag: String, _ url: URL) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["chattr", flag, url.path]
        process.standardError = FileHandle.nullDevice
        // Where there is no such program, nothing can be locked.
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
