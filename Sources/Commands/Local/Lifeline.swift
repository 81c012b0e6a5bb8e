import ArgumentParser
import Foundation

/// A pipe that ends with this process, however it ends: what children watch to end with it.
///
/// PR_SET_PDEATHSIG would not do: it follows the thread that started the child, and threads of a pool come and go.
final class Lifeline: Sendable {
    /// The reading end, for children.
    let end: FileHandle
    private let held: FileHandle

    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CLIError(.cannotCreate, "a pipe cannot be made: \(String(cString: strerror(errno)))")
        }
        for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        end = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        held = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}

/// A child's side: whether the process ends with the one that started it.
struct LifelineOptions: ParsableArguments {
    @Flag(help: "End at once when standard input ends, as when the program that started this one has ended.")
    var untilInputEnds = false

    /// Starts to watch standard input, when that is wanted.
    func watch() {
        guard untilInputEnds else { return }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            var count = 0
            repeat { count = read(STDIN_FILENO, &byte, 1) } while count > 0 || (count < 0 && errno == EINTR)
            // No clean-up: everything acknowledged is on disk, and a successor may already wait.
            _exit(ExitStatus.temporary.rawValue)
        }
    }
}
