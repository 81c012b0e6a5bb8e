internal import Foundation

/// How much of its machine a worker may use.
///
/// A worker above a limit finishes what it runs and takes no more work, until it uses less than nine tenths of it.
public struct HostLimits: Hashable, Sendable {
    /// Resident memory of the process in bytes; `nil` = no limit.
    public var memory: UInt64?
    /// Bytes of the files that it makes and keeps in a folder of its own, of a store with local copies; `nil` = no limit.
    public var scratch: UInt64?

    /// No limits.
    public init() {}

    /// What is used now; `nil` = unknown or without a limit.
    struct Use: Hashable, Sendable {
        var memory: UInt64?
        var scratch: UInt64?
    }

    /// The limits that are reached, for people; empty = none, also where the use is unknown.
    ///
    /// - Parameter wasReached: Whether one was reached before: then the use must fall below nine tenths.
    func reached(by use: Use, wasReached: Bool) -> String {
        func isAbove(_ use: UInt64?, _ limit: UInt64?) -> Bool {
            guard let use, let limit else { return false }
            return wasReached ? use >= limit / 10 * 9 : use > limit
        }
        func text(_ use: UInt64?, _ limit: UInt64?) -> String {
            "\((use ?? 0) / 1_000_000) MB of \((limit ?? 0) / 1_000_000) MB"
        }
        var found: [String] = []
        if isAbove(use.memory, memory) { found.append("\(text(use.memory, memory)) of memory are used (--memory)") }
        if isAbove(use.scratch, scratch) {
            found.append("\(text(use.scratch, scratch)) of temporary files are used (--scratch-limit)")
        }
        return found.joined(separator: "; ")
    }

    /// Resident memory of this process in bytes; `nil` where the system does not say it.
    static func residentMemory() -> UInt64? {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        let (bytes, overflow) = pages.multipliedReportingOverflow(by: UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 1)))
        return overflow ? nil : bytes
    }
}
