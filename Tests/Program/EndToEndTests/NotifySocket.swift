import Foundation
import Synchronization
import TestSupport

/// The socket of a service manager (`NOTIFY_SOCKET`) and what a service says to it.
final class NotifySocket: Sendable {
    /// The value of the variable.
    let name: String
    private let descriptor: Int32
    private let received = Mutex<[String]>([])

    /// - Parameter isAbstract: Whether the address is a name of the abstract namespace and no file.
    init(in scratch: Scratch, isAbstract: Bool = false) throws {
        let path = isAbstract ? "@packhorse-\(UUID().uuidString)" : scratch.url("notify").path
        name = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
        // A thread of its own, until the socket is shut down.
        Thread.detachNewThread { [weak self, descriptor] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0, let self else { return }
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                self.received.withLock { $0.append(text) }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// The messages so far.
    var messages: [String] { received.withLock { $0 } }

    /// Waits for a message that begins so.
    func expect(_ start: String, more count: Int = 0) async throws {
        try await Eventually.holds("the service says \(start)") {
            self.messages.count { $0.hasPrefix(start) } > count
        }
    }
}
