import Errors
import Foundation
internal import TextFormats

/// The limits of the system for this process and its children.
///
/// A library that gets no thread, descriptor or memory ends the process or waits without end, so the limits are checked
/// before anything is started.
package enum ProcessLimits {
    /// What a process needs at least.
    package struct Needs: Sendable {
        let openFiles: UInt64
        /// Bytes of addresses: most of them are reserved for threads, and never used.
        let addressSpace: UInt64

        /// Any command.
        package static let command = Needs(openFiles: 32, addressSpace: 512 << 20)

        /// A coordinator, a worker or a gateway, and a command that starts them.
        ///
        /// Each core adds threads.
        package static var service: Needs {
            let cores = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
            return Needs(openFiles: 128, addressSpace: 1 << 30 + cores * (64 << 20))
        }
    }

    /// Refuses to go on with too little; raises a soft limit where the hard one allows it.
    ///
    /// - Throws: ``CLIError`` 78 with the limit, what is needed, and how to raise it.
    package static func require(_ needs: Needs) throws(CLIError) {
        // When Foundation starts a child, it closes every open descriptor, and fails at one with a number above the limit. A descriptor that
        // this process has inherited can have such a number, so the limit is raised far.
        guard raise(RLIMIT_NOFILE, to: needs.openFiles, atBest: 65_536) else {
            throw CLIError(
                .configuration,
                "the system allows this process \(value(RLIMIT_NOFILE)) open files, and \(needs.openFiles) are needed",
                hint: "raise the limit where it is started: ulimit -n 1024 (systemd: LimitNOFILE=1024)")
        }
        try require(RLIMIT_AS, needs.addressSpace, of: "address space", option: "-v", setting: "LimitAS")
        // Of the address space this is what can be written: not the parts that are only reserved.
        try require(RLIMIT_DATA, needs.addressSpace / 4, of: "data", option: "-d", setting: "LimitDATA")
    }

    private static func require(
        _ resource: __rlimit_resource, _ bytes: UInt64, of what: String, option: String, setting: String
    ) throws(CLIError) {
        guard !raise(resource, to: bytes) else { return }
        throw CLIError(
            .configuration,
            "the system allows this process \(Units.bytes(value(resource))) of \(what), and \(Units.bytes(bytes)) are needed",
            hint: "remove the limit where it is started: ulimit \(option) unlimited (systemd: \(setting)=infinity)")
    }

    /// Raises the number of open files to what the system allows at most.
    ///
    /// Systems start programs with 1,024, and every worker needs one connection. A refusal is ignored.
    package static func allowManyFiles() {
        _ = raise(RLIMIT_NOFILE, to: .max)
    }

    private static func value(_ resource: __rlimit_resource) -> UInt64 {
        limit(resource).map { UInt64($0.rlim_cur) } ?? .max
    }

    private static func limit(_ resource: __rlimit_resource) -> rlimit? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? limit : nil
    }

    /// Raises the soft limit to a value, at most to the hard limit.
    ///
    /// - Parameter best: The new limit where the hard one allows it, if that is more.
    /// - Returns: Whether the value is allowed now.
    private static func raise(_ resource: __rlimit_resource, to value: UInt64, atBest best: UInt64 = 0) -> Bool {
        // A limit that cannot be read is none.
        guard var limit = limit(resource), limit.rlim_cur < value else { return true }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(max(value, best)))
        return setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 && limit.rlim_cur >= value
    }
}
