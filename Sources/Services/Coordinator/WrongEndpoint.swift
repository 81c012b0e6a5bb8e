import Wire

/// The answer to a command that connects to an endpoint for workers.
///
/// Without an answer the command could not tell a wrong port from a coordinator that does not run.
enum WrongEndpoint {
    /// Whether only commands send this message.
    static func isFromCommand(_ type: MessageType) -> Bool {
        switch type.role {
        case .viewer, .operator, .any: true
        case .worker, .coordinator: false
        }
    }

    /// The answer.
    ///
    /// - Parameters:
    ///   - name: What the endpoint is for: "workers", "blobs".
    ///   - control: The endpoint for commands as it was bound; `nil` = unknown here.
    static func answer(at name: String, control: String? = nil) -> Message {
        WireConversions.problem(
            "wrong-endpoint", "This is the coordinator's endpoint for \(name), not the one for commands.",
            hint: "name the endpoint of 'coordinator --control': --coordinator tcp://HOST:\(port(control) ?? "PORT")")
    }

    /// The port of an endpoint; `nil` when it has none.
    private static func port(_ endpoint: String?) -> Substring? {
        guard let endpoint, endpoint.hasPrefix("tcp://") else { return nil }
        return endpoint.split(separator: ":").last.flatMap { UInt16($0) == nil ? nil : $0 }
    }
}
