internal import CZeroMQ
internal import Foundation

/// Queries the kernel about libzmq's own connections, and closes them.
///
/// Used by the poll thread.
///
/// libzmq may close a descriptor at any time and the next connection may get its number. The inode distinguishes them.
enum PeerSocket {
    static func inode(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        return UInt64(status.st_ino)
    }

    /// - Returns: `nil` for a descriptor that is not a TCP connection any more.
    static func sample(_ descriptor: Int32) -> IngressGuard.Sample? {
        let received = ph_bytes_received(descriptor)
        let waiting = ph_bytes_waiting(descriptor)
        guard received >= 0, waiting >= 0 else { return nil }
        return IngressGuard.Sample(received: received, waiting: waiting)
    }

    /// Ends a connection and discards the data that still waits in the kernel, so that libzmq notices the end at once.
    static func cut(_ descriptor: Int32, inode: UInt64) {
        if self.inode(descriptor) == inode { ph_cut(descriptor) }
    }
}

/// Reads the process's resident memory from one open file: a system call of microseconds, without allocation.
final class ResidentMemory {
    private let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
    private let pageSize = Int64(sysconf(Int32(_SC_PAGESIZE)))

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Bytes; 0 where it is unknown.
    var bytes: Int64 {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { text in
            let count = pread(descriptor, text.baseAddress, text.count, 0)
            guard count > 0 else { return 0 }
            return Self.pages(UnsafeRawBufferPointer(rebasing: text[..<count])) * pageSize
        }
    }

    /// The second number of a line of `/proc/PID/statm`: resident pages; 0 when there is none.
    static func pages(_ line: UnsafeRawBufferPointer) -> Int64 {
        let digits = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { $0 != UInt8(ascii: " ") }
        // A larger number exceeds any machine, and would overflow when multiplied by the page size.
        guard (1...14).contains(digits.count) else { return 0 }
        var pages: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return 0 }
            pages = pages * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return pages
    }
}
