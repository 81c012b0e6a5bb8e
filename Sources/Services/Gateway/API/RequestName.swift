internal import Foundation

/// Names of requests on the wire.
enum RequestName {
    /// A name that no other request has.
    static func new() -> String { UUID().uuidString.lowercased() }
}
