internal import Foundation
internal import TextFormats

/// What the system says about this process.
package enum ProcessMetrics {
    private static let start = Date().timeIntervalSince1970

    package static func write(to text: inout MetricsText) {
        text.family(ProcessMetric.buildInfo)
        text.sample(ProcessMetric.buildInfo, ProgramVersion.current, value: 1)
        text.single(ProcessMetric.start, start)
        var use = rusage()
        if getrusage(Int32(RUSAGE_SELF.rawValue), &use) == 0 {
            let seconds = [use.ru_utime, use.ru_stime].reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
            text.single(ProcessMetric.processorSeconds, seconds)
        }
        // Only Linux has these files; elsewhere the families are missing.
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            text.single(ProcessMetric.openFiles, Double(files.count))
        }
        // Elsewhere than on Linux this family is missing too.
        if let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " "),
            pages.count > 1, let resident = Double(pages[1])
        {
            text.single(ProcessMetric.residentBytes, resident * Double(sysconf(Int32(_SC_PAGESIZE))))
        }
    }
}
