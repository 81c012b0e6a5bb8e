import ArgumentParser
internal import CommandSupport
import Errors
import Foundation

/// A pipe that is closed when this process ends, in any way.
///
/// Children watch it and end with this process.
///
/// PR_SET_PDEATHSIG is not suitable: it follows the thread that started the child, and threads of a pool end at any
/// time.
final class Lifeline: Sendable {
    /// The reading end, for children.
    let end: FileHandle
    private let held: FileHandle

    /// - Throws: ``CLIError`` 73 when the process has no descriptors left.
    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CLIError(.cannotCreate, "a pipe cannot be created: \(String(cString: strerror(errno)))")
        }
        for descriptor in ends { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        end = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        held = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
    }
}

/// The child's side: whether the process ends with the one that started it.
struct LifelineOptions: ParsableArguments {
    @Flag(help: "End at once when standard input is closed, for example because the parent process has ended.")
    var untilInputEnds = false

    /// Starts to watch standard input, if that is requested.
    func watch() {
        guard untilInputEnds else { return }
        Thread.detachNewThread {
            var byte: UInt8 = 0
            var count = 0
            repeat { count = read(STDIN_FILENO, &byte, 1) } while count > 0 || (count < 0 && errno == EINTR)
            // No clean-up: all acknowledged data is on disk, and a successor may already be waiting.
            _exit(ExitStatus.temporary.rawValue)
        }
    }
}
