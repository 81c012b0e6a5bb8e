import ArgumentParser
import Errors
import ZeroMQ

/// Several addresses of a coordinator: of an option that may be repeated, and of a variable.
package enum EndpointList {
    /// The most addresses: each is asked at the same time.
    package static let most = 8

    /// The addresses in their order: values are divided at commas; an address that is named twice counts once.
    package static func addresses(_ values: [String]) -> [String] {
        var addresses: [String] = []
        for part in values.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let address = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    /// The addresses of an option, else of a variable, else the usual one.
    ///
    /// - Throws: ``CLIError`` 78 when the variable is used and has something that is no address.
    package static func resolve(_ values: [String], variable: String, usual: String) throws -> [String] {
        if !values.isEmpty { return addresses(values) }
        guard let text = Variable.value(variable) else { return [usual] }
        let addresses = addresses([text])
        if let wrong = tooMany(addresses) ?? wrong(addresses).map({ "has '\($0)', which is not an endpoint" }) {
            throw CLIError(
                .configuration, "the variable \(variable) \(wrong)",
                hint:
                    "set it to an endpoint, for example tcp://coordinator.example.com:7470, or to several, comma-separated"
            )
        }
        return addresses
    }

    /// Refuses values to which no socket can connect.
    ///
    /// - Throws: `ValidationError`, which ends with 64.
    package static func check(_ values: [String], option: String) throws {
        let all = addresses(values)
        guard let wrong = tooMany(all) ?? wrong(all).map({ "'\($0)' is not an endpoint" }) else { return }
        throw ValidationError("\(option) \(wrong); expected for example tcp://coordinator.example.com:7470")
    }

    private static func tooMany(_ addresses: [String]) -> String? {
        addresses.count > most ? "has \(addresses.count) endpoints, more than \(most)" : nil
    }

    private static func wrong(_ addresses: [String]) -> String? {
        addresses.first { !DealerLink.canConnect(to: $0) }.map { String($0.prefix(200)) }
    }
}
