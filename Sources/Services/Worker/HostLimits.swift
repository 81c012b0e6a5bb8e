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

        subscript(kind: Kind) -> UInt64? { kind == .memory ? memory : scratch }
    }

    /// A limit, by the member that sets it.
    enum Kind: CaseIterable, Sendable { case memory, scratch }

    /// The limits that are reached; one whose use is unknown is not.
    ///
    /// - Parameter before: Those that were reached before: their use must fall below nine tenths.
    func reached(by use: Use, before: Set<Kind>) -> Set<Kind> {
        Set(
            Kind.allCases.filter { kind in
                guard let limit = limit(kind), let use = use[kind] else { return false }
                return before.contains(kind) ? use >= limit / 10 * 9 : use > limit
            })
    }

    /// The reached limits, for people; empty = none.
    func reason(_ reached: Set<Kind>, _ use: Use) -> String {
        Kind.allCases.filter(reached.contains).map { kind in
            let what =
                kind == .memory ? "of memory are used (--memory)" : "of temporary files are used (--scratch-limit)"
            return "\((use[kind] ?? 0) / 1_000_000) MB of \((limit(kind) ?? 0) / 1_000_000) MB \(what)"
        }.joined(separator: "; ")
    }

    private func limit(_ kind: Kind) -> UInt64? { kind == .memory ? memory : scratch }

    /// Resident memory of this process in bytes; `nil` where the system does not say it.
    static func residentMemory() -> UInt64? {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        let (bytes, overflow) = pages.multipliedReportingOverflow(by: UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 1)))
        return overflow ? nil : bytes
    }
}
