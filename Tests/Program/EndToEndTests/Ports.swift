import Foundation
import Synchronization

/// Ports that a server can have again after a restart.
///
/// One that the system chooses may go to any outgoing connection as soon as its server is down; these are below the range
/// that the system chooses from, and each is given once.
enum Ports {
    private static let range: ClosedRange<UInt16> = 20_000...31_999
    // Starts anywhere, as another run may be under way.
    private static let next = Mutex(UInt16.random(in: range))

    /// "tcp://127.0.0.1:PORT" with a port on which no process listens.
    static func endpoint() throws -> String {
        for _ in range {
            let port = next.withLock { next in
                next = next < range.upperBound ? next + 1 : range.lowerBound
                return next
            }
            if isFree(port) { return "tcp://127.0.0.1:\(port)" }
        }
        throw POSIXError(.EADDRINUSE)
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
