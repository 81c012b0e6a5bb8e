package import Foundation

/// A small file whose permissions matter: it holds a secret, or it grants access.
///
/// Symbolic links are followed, because orchestrators mount secrets as links; what counts are the permissions of the file
/// that is opened in the end.
package struct GuardedFile: Sendable {
    /// Why it cannot be read.
    package enum Failure: Error, Sendable {
        /// There is no file of this name.
        case missing(String)
        /// It cannot be opened or read, is no regular file, or is too large.
        case unreadable(String)

        /// The reason, without the name of the file.
        package var reason: String {
            switch self {
            case .missing(let reason), .unreadable(let reason): reason
            }
        }
    }

    /// The content.
    package let bytes: [UInt8]
    private let path: String
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t
    private let isLink: Bool

    /// Reads a file; permissions and content are those of one open file.
    ///
    /// - Parameter limit: The most bytes that it may have.
    /// - Throws: ``Failure``, with the reason that the system gives.
    package static func read(_ url: URL, limit: Int) throws(Failure) -> GuardedFile {
        // A pipe would block without O_NONBLOCK.
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            throw .unreadable("it is not a regular file of at most \(limit) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let count = bytes.withUnsafeMutableBytes {
                Foundation.read(descriptor, $0.baseAddress?.advanced(by: filled), limit - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno) }
            if count == 0 { break }
            filled += count
        }
        var link = stat()
        let isLink = lstat(url.path, &link) != 0 || link.st_mode & S_IFMT == S_IFLNK
        return GuardedFile(
            bytes: Array(bytes[..<filled]), path: url.path, mode: status.st_mode, owner: status.st_uid,
            group: status.st_gid, isLink: isLink)
    }

    /// Why it may not hold a secret, with the remedy; `nil` if only those can read it who may.
    ///
    /// The owner may. A group may where this process belongs to it, and the file is read-only (0440) or not this user's
    /// own: so are secrets mounted (the `fsGroup` of Kubernetes), and so does root give a key to a service.
    package var leak: String? {
        let others = mode & 0o077
        if others == 0 { return nil }
        let isOfOurGroup = Self.groups.contains(group)
        if others == 0o040, isOfOurGroup, owner != geteuid() || mode & 0o222 == 0 { return nil }
        return "has mode \(String(mode & 0o777, radix: 8)): other users can read it. Run: chmod 600 '\(path)'"
    }

    /// Why it may not grant anything, with the remedy; `nil` if only those can change it who may.
    ///
    /// A link must lead to a file of root or of this user.
    package var tampering: String? {
        if mode & 0o002 != 0 || isLink && mode & 0o020 != 0 && !Self.groups.contains(group) {
            return "has mode \(String(mode & 0o777, radix: 8)): other users can change it. Run: chmod go-w '\(path)'"
        }
        guard !isLink || owner == 0 || owner == geteuid() else {
            return
                "is a link to a file of another user (\(owner)), who can change it. Copy the file, or link one of root"
        }
        return nil
    }

    /// The groups of this process.
    private static var groups: Set<gid_t> {
        let count = getgroups(0, nil)
        var list = [gid_t](repeating: 0, count: max(0, Int(count)))
        let filled = list.isEmpty ? 0 : getgroups(Int32(list.count), &list)
        return Set(list.prefix(max(0, Int(filled)))).union([getegid()])
    }

    private static func failure(_ number: Int32) -> Failure {
        let reason = String(cString: strerror(number))
        return number == ENOENT ? .missing(reason) : .unreadable(reason)
    }
}
