internal import CommandSupport
import Errors
import Foundation

/// A folder for sockets of child processes that only this user can reach.
struct SocketFolder {
    private let folder: FileHandle

    /// Creates the folder with mode 0700.
    ///
    /// - Throws: ``CLIError`` 73 when it cannot be created.
    init(_ url: URL) throws {
        try OutputLocation.makeFolder(url)
        let descriptor = chmod(url.path, 0o700) == 0 ? open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
        guard descriptor >= 0 else {
            throw CLIError(
                .cannotCreate, "'\(url.path)' cannot be opened: \(String(cString: strerror(errno)))",
                hint: "choose a writable folder")
        }
        folder = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The endpoint of a socket, which child processes can use while this process runs.
    ///
    /// The path of a socket is limited to 107 bytes. This one is short for any folder.
    func endpoint(_ name: String) -> String {
        "ipc:///proc/\(ProcessInfo.processInfo.processIdentifier)/fd/\(folder.fileDescriptor)/\(name)"
    }
}
