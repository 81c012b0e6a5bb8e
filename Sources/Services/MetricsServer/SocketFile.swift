internal import Errors
internal import Foundation

/// The file of a Unix socket before it is bound.
enum SocketFile {
    /// Removes the file that a process left which has ended.
    ///
    /// - Throws: ``MetricsServerError`` when a process listens there, when the file is no socket, and without a folder.
    static func prepare(_ path: String, option: String) throws(MetricsServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw MetricsServerError(
                    .badPath, "Metrics cannot be served at '\(path)': there is no folder '\(folder)'.",
                    hint: "create the folder, or give \(option) another path")
            }
            return
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw MetricsServerError(
                .badPath, "Metrics cannot be served at '\(path)': the file exists and is no socket.",
                hint: "give \(option) another path")
        }
        guard !isServed(path) else {
            throw MetricsServerError(
                .cannotListen, "Metrics cannot be served at '\(path)': another process listens there.",
                hint: "give \(option) another path")
        }
        unlink(path)
    }

    /// Whether a process takes connections.
    private static func isServed(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count <= MetricsAddress.longestPath else { return true }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 || errno != ECONNREFUSED
            }
        }
    }
}
