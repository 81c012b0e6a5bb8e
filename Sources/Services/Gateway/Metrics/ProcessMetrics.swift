internal import Foundation
internal import TextFormats

/// What the system says about this process.
enum ProcessMetrics {
    private static let start = Date().timeIntervalSince1970

    static func write(to text: inout MetricsText) {
        text.family("build_info", .gauge, "The version of the program")
        text.sample("build_info", [("version", ProgramVersion.current)], 1)
        text.family("process_start_timestamp_seconds", .gauge, "When the metrics were first asked for")
        text.sample("process_start_timestamp_seconds", [], start)
        var use = rusage()
        if getrusage(Int32(RUSAGE_SELF.rawValue), &use) == 0 {
            let seconds = [use.ru_utime, use.ru_stime].reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
            text.family("process_cpu_seconds_total", .counter, "Time on processors")
            text.sample("process_cpu_seconds_total", [], seconds)
        }
        // Only Linux has these files; elsewhere the families are missing.
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            text.family("process_open_fds", .gauge, "Open files and sockets")
            text.sample("process_open_fds", [], Double(files.count))
        }
        // As above.
        if let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " "),
            pages.count > 1, let resident = Double(pages[1])
        {
            text.family("process_resident_memory_bytes", .gauge, "Memory in use")
            text.sample("process_resident_memory_bytes", [], resident * Double(sysconf(Int32(_SC_PAGESIZE))))
        }
    }
}
