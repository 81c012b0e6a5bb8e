internal import CommandSupport
import Dispatch
import Errors
import Foundation

/// A pipe whose lines a thread of this process receives while a child process writes them.
final class LinePipe: Sendable {
    /// The end that the child writes to.
    let writing: FileHandle
    private let atEnd = DispatchSemaphore(value: 0)

    /// - Parameter receive: Called for each line, in order, on a thread of its own.
    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init(_ receive: @escaping @Sendable (String) -> Void) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CLIError(.cannotCreate, "a pipe cannot be created: \(String(cString: strerror(errno)))")
        }
        for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        Thread.detachNewThread { [atEnd] in
            Self.read(reading, receive)
            atEnd.signal()
        }
    }

    /// Closes this process's writing end after the child was started: the pipe then ends with the child.
    func closeWriting() {
        // A descriptor that cannot be closed is closed already.
        try? writing.close()
    }

    /// Blocks until all lines were received, at most a second.
    func waitForEnd() { _ = atEnd.wait(timeout: .now() + .seconds(1)) }

    private static func read(_ file: FileHandle, _ receive: (String) -> Void) {
        var lines = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Foundation.read(file.fileDescriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            lines.add(buffer[..<count]).forEach(receive)
        }
        if let rest = lines.rest { receive(rest) }
    }
}

/// Cuts bytes into lines.
struct LineSplitter {
    /// A longer line is cut: a child must not fill the memory of this process.
    static let maxBytes = 65_536

    private var line: [UInt8] = []

    /// The lines that are complete with these bytes.
    mutating func add(_ bytes: some Sequence<UInt8>) -> [String] {
        var complete: [String] = []
        for byte in bytes {
            if byte != UInt8(ascii: "\n") { line.append(byte) }
            guard byte == UInt8(ascii: "\n") || line.count == Self.maxBytes else { continue }
            complete.append(String(decoding: line, as: UTF8.self))
            line.removeAll(keepingCapacity: true)
        }
        return complete
    }

    /// The last line, when nothing ended it.
    var rest: String? { line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
}
