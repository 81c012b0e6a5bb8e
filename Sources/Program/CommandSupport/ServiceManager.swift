import Foundation
import Synchronization

/// Messages to the service manager that started this process, such as systemd (`sd_notify(3)`).
///
/// They say that sockets are open, that settings are read again, that the process ends, and that its main loop still runs.
/// Without a service manager nothing is sent.
package final class ServiceManager: Sendable {
    /// That of this process, from `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    package static let shared = ServiceManager(ProcessInfo.processInfo.environment)

    /// Variables that belong to this process alone: a child must not speak for it.
    package static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    private let address: UnixAddress?
    /// Between two signs of life: a third of the time after which the manager replaces the process.
    private let interval: Duration?
    private let lastPulse = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter process: The id of this process: `WATCHDOG_PID` may name another one.
    init(_ environment: [String: String], process: Int32 = getpid()) {
        address = environment["NOTIFY_SOCKET"].flatMap(UnixAddress.init)
        let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        interval = isMeant && limit > 0 ? .microseconds(limit / 3) : nil
    }

    /// Says that the service can be used.
    ///
    /// - Parameter status: One line about what it does.
    package func ready(_ status: String) { send("READY=1\nSTATUS=\(Self.oneLine(status))") }

    /// Says that settings are read again; ``ready(_:)`` follows.
    package func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)") }

    /// Says that the service ends.
    package func stopping() { send("STOPPING=1") }

    /// Says that the main loop runs; sent only as often as the manager needs it.
    package func pulse() {
        guard let interval, address != nil else { return }
        let now = ContinuousClock.now
        let isDue = lastPulse.withLock { last in
            if let last, now - last < interval { return false }
            last = now
            return true
        }
        if isDue { send("WATCHDOG=1") }
    }

    /// The longest time between two calls of ``pulse()``; `nil` = the manager does not wait for them.
    package var pulseInterval: Duration? { address == nil ? nil : interval }

    /// One message is one datagram.
    ///
    /// What cannot be sent is lost: the manager then treats the process as one that said nothing.
    private func send(_ text: String) {
        guard let address else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = address.withAddress { pointer, length in
            sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), pointer, length)
        }
    }

    /// CLOCK_MONOTONIC, by which systemd orders reloads.
    private static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    private static func oneLine(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }
}

/// The address of a Unix socket: a path, or a name behind `@` in the abstract namespace.
struct UnixAddress: Sendable {
    private let bytes: [UInt8]

    /// - Returns: `nil` for a text that is neither an absolute path nor an abstract name, and for one that is too long.
    init?(_ text: String) {
        var name = Array(text.utf8)
        guard name.count > 1, name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path), !name.contains(0) else {
            return nil
        }
        switch name[0] {
        case UInt8(ascii: "@"): name[0] = 0
        case UInt8(ascii: "/"): name.append(0)
        default: return nil
        }
        bytes = name
    }

    /// Calls `body` with the address as the system takes it.
    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
