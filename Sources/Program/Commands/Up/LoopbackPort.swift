internal import CommandSupport
import Errors
import Foundation

/// A TCP port of 127.0.0.1.
enum LoopbackPort {
    /// Refuses a port at which another process listens, before anything is started.
    ///
    /// - Throws: ``CLIError`` 75 naming port and option; 77 for a port that only root may use.
    static func requireFree(_ port: Int, option: String) throws {
        let number = bindError(UInt16(clamping: port))
        guard number != 0 else { return }
        let reason = number == EADDRINUSE ? "is in use" : "cannot be used: \(String(cString: strerror(number)))"
        throw CLIError(
            number == EADDRINUSE ? .temporary : .permission, "port \(port) of 127.0.0.1 \(reason)",
            hint:
                "choose another port with \(option), or stop the process that listens there: ss -ltnp 'sport = \(port)'"
        )
    }

    /// The error of `bind(2)`; 0 = none.
    private static func bindError(_ port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Connections that have just ended do not count, as for the sockets of the processes.
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
