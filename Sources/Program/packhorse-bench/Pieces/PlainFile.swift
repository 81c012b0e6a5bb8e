internal import CommandSupport
import Errors
import Foundation

/// Files as a simple program reads, writes and copies them: the baselines for our file operations.
enum PlainFile {
    /// Bytes of one read or write.
    private static let pieceSize = 1 << 20

    /// Writes bodies one after the other, a mebibyte at a time, and flushes the file.
    static func write(_ bodies: [[UInt8]], to url: URL) throws {
        let file = try open(url, O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(file) }
        var piece: [UInt8] = []
        piece.reserveCapacity(pieceSize + (1 << 16))
        for body in bodies {
            piece += body
            guard piece.count >= pieceSize else { continue }
            try write(piece[...], into: file, url)
            piece.removeAll(keepingCapacity: true)
        }
        try write(piece[...], into: file, url)
        guard fsync(file) == 0 else { throw failure("flush", url) }
    }

    /// Reads a file sequentially and passes its pieces to `take`.
    static func read(_ url: URL, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
        let file = try open(url, O_RDONLY)
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: pieceSize)
        while true {
            let count = Foundation.read(file, &buffer, buffer.count)
            guard count >= 0 else { throw failure("read", url) }
            if count == 0 { return }
            try take(buffer[..<count])
        }
    }

    /// Copies a file as `cp` and `sync` do.
    static func copy(_ from: URL, to url: URL) throws {
        let target = try open(url, O_WRONLY | O_CREAT | O_TRUNC)
        defer { close(target) }
        try read(from) { try write($0, into: target, url) }
        guard fsync(target) == 0 else { throw failure("flush", url) }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, into file: Int32, _ url: URL) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw failure("write", url) }
            rest = rest.dropFirst(count)
        }
    }

    private static func open(_ url: URL, _ flags: Int32) throws -> Int32 {
        let file = Foundation.open(url.path, flags | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("open", url) }
        return file
    }

    private static func failure(_ what: String, _ url: URL) -> CLIError {
        CLIError(
            .inputOutput, "cannot \(what) '\(url.path)': \(String(cString: strerror(errno)))",
            hint: "choose another folder with TMPDIR")
    }
}
