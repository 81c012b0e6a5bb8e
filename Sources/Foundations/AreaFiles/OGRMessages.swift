import Foundation
import Synchronization

/// What GDAL's programs say on standard error, one message after the other.
///
/// They end with 0 after some faults too, so the messages decide whether a file is used. An error refuses it. A warning is about attributes,
/// which no area has, and is passed on.
struct OGRMessages {
    /// The first message that refuses the file; `nil` for none.
    private(set) var fault: String?
    /// The first warning to pass on.
    private(set) var warning: String?
    /// How many warnings there are to pass on.
    private(set) var warningCount = 0

    private var message = ""
    private var line: [UInt8] = []

    /// Bytes of one message that are kept.
    private static let longest = 1_000
    /// Says that positions are left out, so the area would be too small.
    private static let lossWords = ["NaN coordinate"]
    /// Says something of GeoJSON, into which we let the program write, and nothing of the file.
    private static let outputWords = ["output driver does not natively support"]

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < Self.longest {
                line.append(byte)
            }
        }
    }

    /// Ends the last message.
    mutating func end() {
        if !line.isEmpty { endLine() }
        endMessage()
    }

    private mutating func endLine() {
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        // A list of drivers follows some errors.
        guard !text.hasPrefix("  ->"), text.contains(where: { !$0.isWhitespace }) else { return }
        if text.hasPrefix("Warning ") || text.hasPrefix("ERROR ") || text.hasPrefix("FAILURE") {
            endMessage()
            message = text
        } else if message.utf8.count < Self.longest {
            let rest = text.trimmingCharacters(in: .whitespaces)
            message = message.isEmpty || message == "FAILURE:" ? rest : "\(message) \(rest)"
        }
    }

    private mutating func endMessage() {
        defer { message = "" }
        guard !message.isEmpty else { return }
        let isWarning = message.hasPrefix("Warning ") && !Self.lossWords.contains(where: message.contains)
        guard isWarning else {
            if fault == nil { fault = message }
            return
        }
        guard !Self.outputWords.contains(where: message.contains) else { return }
        warningCount += 1
        if warning == nil { warning = String(message.drop { $0 != ":" }.dropFirst(2)) }
    }
}

/// Reads what a program says on standard error until it closes it.
final class OGRMessageReader: Sendable {
    private let messages = Mutex(OGRMessages())
    private let ended = DispatchSemaphore(value: 0)

    /// Reads to the end; on a thread of its own, so that a full pipe never holds the program up.
    func read(_ handle: FileHandle) {
        // An end for another reason than the program's is an end, too: what was read so far counts.
        while let data = try? handle.read(upToCount: 4_096), !data.isEmpty {
            messages.withLock { $0.add(data) }
        }
        messages.withLock { $0.end() }
        ended.signal()
    }

    /// Waits for the end; once.
    func all() -> OGRMessages {
        ended.wait()
        return messages.withLock { $0 }
    }
}
