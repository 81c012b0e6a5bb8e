package import ZeroMQ

/// How a gateway reaches its coordinator.
package struct ClusterAccess: Sendable {
    /// The control endpoint, `tcp://127.0.0.1:7470`, or several: the coordinator of the highest epoch is asked.
    package var endpoints: [String]
    package var security: LinkSecurity
    /// Whether a connection without encryption may leave this machine.
    package var allowPlain: Bool
    /// How long an answer is waited for; a test whose coordinator shares its processors waits longer.
    package var patience = Duration.seconds(3)

    package init(endpoints: [String], security: LinkSecurity, allowPlain: Bool) {
        self.endpoints = endpoints
        self.security = security
        self.allowPlain = allowPlain
    }
}
