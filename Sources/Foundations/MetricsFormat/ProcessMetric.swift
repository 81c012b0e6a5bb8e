/// What every program serves about its process.
package enum ProcessMetric: String, MetricTable {
    case buildInfo = "build_info"
    case start = "process_start_timestamp_seconds"
    case processorSeconds = "process_cpu_seconds_total"
    case openFiles = "process_open_fds"
    case residentBytes = "process_resident_memory_bytes"

    package var family: MetricFamily {
        switch self {
        case .buildInfo: .gauge("The version of the program", .bounded("version", "the version of the build"))
        case .start: .gauge("When the metrics were first asked for")
        case .processorSeconds: .counter("Time on processors")
        case .openFiles: .gauge("Open files and sockets")
        case .residentBytes: .gauge("Memory in use")
        }
    }
}
