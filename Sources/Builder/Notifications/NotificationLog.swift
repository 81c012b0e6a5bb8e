/// The log that notifications are read from, and where each receiver stands in it.
public protocol NotificationLog: Sendable {
    /// The number of the last event that each receiver has handled, by ``NotificationReceiver/id``.
    ///
    /// A receiver without a stored position begins after the newest event; its position is durable before this returns.
    /// Positions of other receivers are removed.
    func positions(of receivers: [String]) async throws -> [String: UInt64]

    /// Makes the position of a receiver durable.
    func save(_ position: UInt64, of receiver: String) async throws

    /// The first notifications of these kinds after a position, by ascending number; at most `limit`.
    func notifications(
        after position: UInt64, kinds: Set<NotificationKind>, limit: Int
    ) async throws -> [LoggedNotification]
}
