internal import Telemetry

extension LogKey {
    /// The highest epoch that this worker has heard, decimal.
    static let highestEpoch = "packhorse.epoch.highest"
}
