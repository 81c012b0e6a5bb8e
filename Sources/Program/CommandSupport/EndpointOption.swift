import ArgumentParser
import Errors
import ZeroMQ

/// Checks the endpoints of a command line before anything is opened.
package enum EndpointOption {
    /// Refuses a text at which no socket can listen.
    ///
    /// - Throws: `ValidationError`, which ends with 64.
    package static func checkListening(_ endpoint: String?, option: String) throws {
        guard let endpoint, !RouterLink.canListen(at: endpoint) else { return }
        throw wrong(option, endpoint, examples: "tcp://127.0.0.1:7470, tcp://*:7470 or tcp://127.0.0.1:*")
    }

    /// Refuses a text to which no socket can connect.
    ///
    /// - Throws: `ValidationError`, which ends with 64.
    package static func checkConnecting(_ endpoint: String?, option: String) throws {
        guard let endpoint, !DealerLink.canConnect(to: endpoint) else { return }
        throw wrong(option, endpoint, examples: "tcp://coordinator.example.com:7470")
    }

    private static func wrong(_ option: String, _ endpoint: String, examples: String) -> ValidationError {
        ValidationError("\(option) '\(endpoint.prefix(200))' is not an endpoint; expected for example \(examples)")
    }
}
