internal import HummingbirdCore
internal import NIOCore
internal import WebRequests

/// A request whose route is known and whose caller may use it.
struct RoutedRequest: Sendable {
    /// Its body can be read only where the answer is waited for.
    private(set) var request: Request
    let path: RequestPath
    let route: Route
    let parameters: [String: String]
    let caller: Caller
    /// That of the connection.
    let loop: any EventLoop
    let services: GatewayServices

    /// A parameter of the path; empty where the route has none of the name.
    subscript(name: String) -> String { parameters[name] ?? "" }

    /// The same with the request whose body can be read.
    func reading(_ request: Request) -> RoutedRequest {
        var copy = self
        copy.request = request
        return copy
    }

    /// The address of this server for this client, without a slash at the end.
    var base: String {
        let options = services.options
        return PublicAddress.base(
            fixed: options.publicURL, request, isTrusted: caller.isProxied,
            fallback: "\(options.host):\(options.port)")
    }

    /// Sends bodies on the connection.
    var sender: BodySender { BodySender(bodies: services.bodies, loop: loop) }

    /// The job of the path.
    var job: UInt64 {
        get throws(Problem) {
            guard let number = UInt64(self["job"]), number > 0 else {
                throw Problem(.badParameter, "The number of a job is expected in the path.")
            }
            return number
        }
    }

    /// Refuses parameters that the route does not name.
    func allowOnlyItsParameters() throws(Problem) {
        let names = route.query
        guard let other = path.parameters.first(where: { !names.contains($0.name) }) else { return }
        let known = names.isEmpty ? "there are none" : "it has \(names.joined(separator: ", "))"
        throw Problem(.badParameter, "The endpoint has no parameter '\(other.name.prefix(60))'; \(known).")
    }

    /// A number of the query.
    func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = path.parameter(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(.badParameter, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
