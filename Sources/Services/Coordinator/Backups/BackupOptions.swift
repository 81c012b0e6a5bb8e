public import StateBackups

/// Backups that a coordinator makes of its state by itself.
public struct BackupOptions: Sendable {
    /// Where they go.
    public var place: any BackupPlace
    /// Between the starts of two backups.
    ///
    /// At least a second.
    public var every: Duration
    /// How long an answer of the place counts that this coordinator was not replaced.
    var trust = Duration.seconds(5)

    /// Backups into a place.
    public init(_ place: any BackupPlace, every: Duration) {
        self.place = place
        self.every = every
    }
}
