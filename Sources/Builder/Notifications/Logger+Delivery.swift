import Logging
internal import Telemetry

/// Keys of the log lines about notifications.
extension LogKey {
    /// Scheme, host and port of a receiver of notifications.
    static let receiver = "packhorse.notification.receiver"
    /// Kind of a notification.
    static let notificationKind = "packhorse.notification.kind"
    /// Number of the event of a notification.
    static let notificationEvent = "packhorse.notification.event"
    /// Status of an answer.
    static let notificationStatus = "packhorse.notification.status"
    /// Number of requests without a final answer.
    static let notificationFailures = "packhorse.notification.failures"
}

extension Logger {
    /// Logs what an operator should know of a delivery.
    func log(_ report: Delivery.Report, of receiver: NotificationReceiver) {
        switch report {
        case .failing(let notification, let why):
            warning(
                "Notification not delivered; it is sent again",
                metadata: Self.about(notification, to: receiver, adding: [LogKey.errorMessage: "\(why)"]))
        case .recovered(let failures):
            notice(
                "Notifications delivered again",
                metadata: [LogKey.receiver: "\(receiver)", LogKey.notificationFailures: "\(failures)"])
        case .refused(let notification, let status):
            warning(
                "Notification refused; it is not sent again",
                metadata: Self.about(notification, to: receiver, adding: [LogKey.notificationStatus: "\(status)"]))
        case .dropped(let notification, let why):
            warning(
                "Notification dropped; it is a day old",
                metadata: Self.about(notification, to: receiver, adding: [LogKey.errorMessage: "\(why)"]))
        }
    }

    private static func about(
        _ notification: LoggedNotification, to receiver: NotificationReceiver, adding more: Metadata
    ) -> Metadata {
        let metadata: Metadata = [
            LogKey.receiver: "\(receiver)", LogKey.notificationKind: "\(notification.content.kind)",
            LogKey.notificationEvent: "\(notification.content.seq)",
        ]
        return metadata.merging(more) { $1 }
    }
}
