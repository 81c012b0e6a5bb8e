import Foundation

/// Folders with unreliable locks.
///
/// Only SQLite's exclusive lock prevents two coordinators from using one state.
enum NetworkFolder {
    /// File system types of `/proc/self/mountinfo` that are refused.
    private static let kinds: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "fuse.sshfs",
    ]

    /// The kind of network file system of `folder`; `nil` for a local one, and where the system does not report it.
    static func name(of folder: URL) -> String? {
        var found = stat()
        guard stat(folder.path, &found) == 0,
            let mounts = FileManager.default.contents(atPath: "/proc/self/mountinfo")
        else { return nil }
        return name(ofDevice: UInt64(found.st_dev), mounts: String(decoding: mounts, as: UTF8.self))
    }

    /// The same from the text of a mountinfo file.
    ///
    /// Source of both layouts: proc(5) and makedev(3) of glibc.
    static func name(ofDevice device: UInt64, mounts: String) -> String? {
        let major = (device >> 8 & 0xFFF) | (device >> 32 & 0xFFFF_F000)
        let minor = (device & 0xFF) | (device >> 12 & 0xFFFF_FF00)
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 3, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-"),
                dash + 1 < words.count
            else { continue }
            let kind = String(words[dash + 1])
            return kinds.contains(kind) ? kind : nil
        }
        return nil
    }
}
