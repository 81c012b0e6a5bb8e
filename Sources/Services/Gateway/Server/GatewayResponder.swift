internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import Telemetry
internal import WebRequests
internal import WebServer

/// Answers one request: finds its route, decides whether the caller may, lets a part answer, and adds what all answers
/// have.
struct GatewayResponder: Sendable {
    let services: GatewayServices

    /// The answer; every error becomes one.
    func respond(to request: Request, on connection: WebServer.Connection) async -> Response {
        let start = ContinuousClock.now
        let id = RequestName.new()
        let path = RequestPath(request.head.path ?? "")
        let match = path.map { Router.shared.find(request.method.rawValue, $0) } ?? .unknown
        let route: Route? = if case .found(let route, _) = match { route } else { nil }
        let group = route?.group ?? .page
        services.metrics.begin(group)
        var response: Response
        do throws(Problem) {
            response = try await answer(request, path, match, connection)
        } catch {
            if error.code.status >= 500 {
                services.logger.warning(
                    "Request failed",
                    metadata: [
                        LogKey.errorCode: "\(error.code.rawValue)", LogKey.errorMessage: "\(error.detail)",
                        LogKey.request: "\(id)",
                    ])
            }
            response = route?.isCarto == true ? CartoResponder.short(error) : error.response(id: id)
        }
        finish(&response, request, id)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        services.metrics.answered(
            route, method: request.method.rawValue, code: response.status.code, seconds: seconds)
        services.metrics.end(group, bytes: UInt64(response.body.contentLength ?? 0), seconds: seconds)
        return response
    }

    /// Headers of all answers.
    private func finish(_ response: inout Response, _ request: Request, _ id: String) {
        response.headers.set(.xRequestID, id)
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers.set(.referrerPolicy, "no-referrer")
        if response.headers.value(.contentSecurityPolicy) == nil {
            response.headers.set(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
        }
        CrossOrigin.allow(&response, request, services.options.corsOrigins)
        if request.method == .head { response = response.createHeadResponse() }
    }

    private func answer(
        _ request: Request, _ path: RequestPath?, _ match: Router.Match, _ connection: WebServer.Connection
    ) async throws(Problem) -> Response {
        guard let path else {
            throw Problem(
                .badPath, "The path has a segment that is not allowed, or is longer than \(RequestPath.maxBytes).")
        }
        if let answer = CrossOrigin.preflight(request, path, services.options.corsOrigins) { return answer }
        switch match {
        case .unknown: throw Problem(.notFound, "There is nothing at '\(path.text.prefix(200))'.")
        case .otherMethod(let allowed):
            throw Problem(
                .methodNotAllowed,
                "\(request.method.rawValue.prefix(20)) is not one of \(allowed.joined(separator: ", ")).",
                headers: [.allow: allowed.joined(separator: ", ")])
        case .found(let route, let parameters):
            let appToken = route.isCarto ? path.parameter("appToken") : nil
            let caller = try services.access.caller(request, peer: connection.peer, appToken: appToken)
            try services.access.check(caller, route.access)
            try services.access.checkRate(caller, route.rate)
            let routed = RoutedRequest(
                request: request, path: path, route: route, parameters: parameters, caller: caller,
                loop: connection.loop, services: services)
            // Other paths ignore what they do not know: CARTO's client appends parameters of its own.
            if path.segments.first == "v1" { try routed.allowOnlyItsParameters() }
            if route.showsCatalog { await services.watch.catchUp() }
            do throws(Problem) { return try await route.handle(routed) } catch {
                // A newer catalog may have what the snapshot does not know.
                guard error.code == .notFound, route.method == .get, route.access != .open,
                    await services.watch.catchUp()
                else { throw error }
                return try await route.handle(routed)
            }
        }
    }
}
