internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Telemetry
internal import WebRequests
internal import WebServer

/// Answers one request: finds its route, decides whether the caller may, lets a part answer, and adds what all answers
/// have.
struct GatewayResponder: Sendable {
    let parts: GatewayParts

    /// The answer; every error becomes one.
    func respond(to request: Request, on connection: WebServer.Connection) async -> Response {
        let start = ContinuousClock.now
        let id = RequestName.new()
        let path = RequestPath(request.head.path ?? "")
        let route = path.map { Route(request.method.rawValue, $0) } ?? .unknown
        let endpoint: Endpoint? = if case .found(let endpoint, _) = route { endpoint } else { nil }
        let group = endpoint?.group ?? .page
        parts.metrics.begin(group)
        var response: Response
        do throws(Problem) {
            response = try await answer(request, path, route, connection)
        } catch {
            if error.code.status >= 500 {
                parts.logger.warning(
                    "Request failed",
                    metadata: [
                        LogKey.errorCode: "\(error.code.rawValue)", LogKey.errorMessage: "\(error.detail)",
                        LogKey.request: "\(id)",
                    ])
            }
            response = endpoint?.isCarto == true ? CartoResponder.short(error) : error.response(id: id)
        }
        finish(&response, request, endpoint, id)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        parts.metrics.answered(
            endpoint, method: request.method.rawValue, code: response.status.code, seconds: seconds)
        parts.metrics.end(group, bytes: UInt64(response.body.contentLength ?? 0), seconds: seconds)
        return response
    }

    /// Headers of all answers.
    private func finish(_ response: inout Response, _ request: Request, _ endpoint: Endpoint?, _ id: String) {
        response.headers.set(.xRequestID, id)
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers.set(.referrerPolicy, "no-referrer")
        if response.headers.value(.contentSecurityPolicy) == nil {
            response.headers.set(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
        }
        CrossOrigin.allow(&response, request, endpoint, parts.options.corsOrigins)
        if request.method == .head { response = response.createHeadResponse() }
    }

    private func answer(
        _ request: Request, _ path: RequestPath?, _ route: Route, _ connection: WebServer.Connection
    ) async throws(Problem) -> Response {
        guard let path else {
            throw Problem(
                .badPath, "The path has a segment that is not allowed, or is longer than \(RequestPath.most).")
        }
        if let answer = CrossOrigin.preflight(request, path, parts.options.corsOrigins) { return answer }
        switch route {
        case .unknown: throw Problem(.notFound, "There is nothing at '\(path.text.prefix(200))'.")
        case .otherMethod(let allowed):
            throw Problem(
                .methodNotAllowed,
                "\(request.method.rawValue.prefix(20)) is not one of \(allowed.joined(separator: ", ")).",
                headers: [.allow: allowed.joined(separator: ", ")])
        case .found(let endpoint, let parameters):
            let appToken = endpoint.isCarto ? path.parameter("appToken") : nil
            let caller = try parts.access.caller(request, peer: connection.peer, appToken: appToken)
            try parts.access.check(caller, endpoint)
            try parts.access.checkRate(caller, endpoint.rate)
            let exchange = Exchange(
                request: request, path: path, endpoint: endpoint, parameters: parameters, caller: caller,
                loop: connection.loop)
            return try await answer(exchange)
        }
    }

    private func answer(_ exchange: Exchange) async throws(Problem) -> Response {
        // Other paths ignore what they do not know: CARTO's client appends parameters of its own.
        if exchange.path.segments.first == "v1" { try exchange.allowOnlyItsParameters() }
        return switch exchange.endpoint {
        case .health: ServiceResponder.text("ok")
        case .ready: try ServiceResponder(parts: parts).ready()
        case .metrics: ServiceResponder(parts: parts).metrics()
        case .problem: try ServiceResponder.problem(exchange.parameters["code"] ?? "")
        case .catalogList, .catalogFile: try await CatalogResponder(parts: parts).respond(exchange)
        case .tileJSON, .tile, .style, .worldDocument, .worldGlyphs, .worldTile:
            try await MapResponder(parts: parts).respond(exchange)
        case .openAPI: try DocumentResponder.respond(ServedDocument(OpenAPIDocument.bytes), to: exchange.request)
        case .page: try PageResponder.respond(exchange, parts.options.page)
        case .catalogPage: try PageResponder.respond(exchange, try parts.watch.snapshot.page)
        case .cartoList, .cartoArea: try await CartoResponder(parts: parts).respond(exchange)
        case .extractOrder, .extract: try await ExtractResponder(parts: parts).respond(exchange)
        default: try await APIResponder(parts: parts).respond(exchange)
        }
    }
}

/// A request whose route is known and whose caller may use it.
struct Exchange: Sendable {
    let request: Request
    let path: RequestPath
    let endpoint: Endpoint
    let parameters: [String: String]
    let caller: Caller
    /// That of the connection.
    let loop: any EventLoop

    /// The address of this server for this client, without a slash at the end.
    func base(_ options: GatewayOptions) -> String {
        PublicAddress.base(
            fixed: options.publicURL, request, isTrusted: caller.isProxied,
            fallback: "\(options.host):\(options.port)")
    }
}
