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
///
/// All but the waiting is one way for all requests; an answer that need not wait is ready on the loop of its connection.
struct GatewayResponder: Sendable {
    let services: GatewayServices

    /// A request and what is known of it from its head.
    private struct Asked: Sendable {
        let start = ContinuousClock.now
        let id = RequestName.new()
        let request: Request
        let path: RequestPath?
        let match: Router.Match
        /// `nil` for a path that no route has.
        let route: Route?

        init(_ request: Request) {
            self.request = request
            path = RequestPath(request.head.path ?? "")
            match = path.map { Router.shared.find(request.method.rawValue, $0) } ?? .unknown
            route = if case .found(let route, _) = match { route } else { nil }
        }

        var group: Route.Group { route?.group ?? .page }
    }

    /// The answer, or what is left to do for it; every error becomes an answer.
    func answer(to request: Request, on connection: WebServer.Connection) -> WebServer.Answer {
        let asked = Asked(request)
        do throws(Problem) {
            if let path = asked.path,
                let answer = CrossOrigin.preflight(request, path, services.options.corsOrigins)
            {
                return .now(finished(answer, asked))
            }
            let routed = try admitted(asked, connection)
            switch try answerNow(routed) {
            case .ready(let answer): return .now(finished(answer, asked))
            case .waits(let handler): return .later { await waited(routed.reading($0), asked, first: handler) }
            }
        } catch { return .now(finished(shown(error, asked), asked)) }
    }

    /// The request of a caller that may use its route; a request that counts for a rate is counted.
    private func admitted(_ asked: Asked, _ connection: WebServer.Connection) throws(Problem) -> RoutedRequest {
        guard let path = asked.path else {
            throw Problem(
                .badPath, "The path has a segment that is not allowed, or is longer than \(RequestPath.maxBytes).")
        }
        switch asked.match {
        case .unknown: throw Problem(.notFound, "There is nothing at '\(path.text.prefix(200))'.")
        case .otherMethod(let allowed):
            throw Problem(
                .methodNotAllowed,
                "\(asked.request.method.rawValue.prefix(20)) is not one of \(allowed.joined(separator: ", ")).",
                headers: [.allow: allowed.joined(separator: ", ")])
        case .found(let route, let parameters):
            let appToken = route.isCarto ? path.parameter("appToken") : nil
            let caller = try services.access.caller(asked.request, peer: connection.peer, appToken: appToken)
            try services.access.check(caller, route.access)
            try services.access.checkRate(caller, route.rate)
            let routed = RoutedRequest(
                request: asked.request, path: path, route: route, parameters: parameters, caller: caller,
                loop: connection.loop, services: services)
            // Other paths ignore what they do not know: CARTO's client appends parameters of its own.
            if path.segments.first == "v1" { try routed.allowOnlyItsParameters() }
            return routed
        }
    }

    /// The answer when nothing must be waited for, also not for a catalog that has changed.
    private func answerNow(_ routed: RoutedRequest) throws(Problem) -> Route.QuickAnswer {
        let route = routed.route
        guard let handleNow = route.handleNow, !route.showsCatalog || !services.watch.isBehind else {
            return .waits(route.handle)
        }
        do throws(Problem) { return try handleNow(routed) } catch {
            if isPerhapsNewer(error, route), services.watch.isBehind { return .waits(route.handle) }
            throw error
        }
    }

    /// The answer of a handler that is waited for.
    private func waited(_ routed: RoutedRequest, _ asked: Asked, first: Route.Handler) async -> Response {
        services.metrics.begin(asked.group)
        defer { services.metrics.end(asked.group) }
        var response: Response
        do throws(Problem) { response = try await handled(routed, first) } catch {
            response = shown(error, asked).response
        }
        finish(&response.headers, asked)
        if asked.request.method == .head { response = response.createHeadResponse() }
        count(response.status, bytes: response.body.contentLength ?? 0, asked)
        return response
    }

    private func handled(_ routed: RoutedRequest, _ first: Route.Handler) async throws(Problem) -> Response {
        let route = routed.route
        if route.showsCatalog { await services.watch.catchUp() }
        do throws(Problem) { return try await first(routed) } catch {
            guard isPerhapsNewer(error, route), await services.watch.catchUp() else { throw error }
            return try await route.handle(routed)
        }
    }

    /// Whether a newer catalog may have what the snapshot does not know.
    private func isPerhapsNewer(_ error: Problem, _ route: Route) -> Bool {
        error.code == .notFound && route.method == .get && route.access != .open
    }

    /// An error as its answer.
    private func shown(_ error: Problem, _ asked: Asked) -> WholeAnswer {
        if error.code.status >= 500 {
            services.logger.warning(
                "Request failed",
                metadata: [
                    LogKey.errorCode: "\(error.code.rawValue)", LogKey.errorMessage: "\(error.detail)",
                    LogKey.request: "\(asked.id)",
                ])
        }
        return asked.route?.isCarto == true ? CartoResponder.short(error) : error.answer(id: asked.id)
    }

    private func finished(_ answer: WholeAnswer, _ asked: Asked) -> WholeAnswer {
        var answer = answer
        finish(&answer.headers, asked)
        if asked.request.method == .head { answer.dropBody() }
        count(answer.status, bytes: answer.body?.readableBytes ?? 0, asked)
        return answer
    }

    /// Headers of all answers.
    private func finish(_ headers: inout HTTPFields, _ asked: Asked) {
        headers.set(.xRequestID, asked.id)
        headers[.xContentTypeOptions] = "nosniff"
        headers.set(.referrerPolicy, "no-referrer")
        if headers.value(.contentSecurityPolicy) == nil {
            headers.set(.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
        }
        CrossOrigin.allow(&headers, asked.request, services.options.corsOrigins)
    }

    private func count(_ status: HTTPResponse.Status, bytes: Int, _ asked: Asked) {
        let seconds = (ContinuousClock.now - asked.start) / .seconds(1)
        services.metrics.answered(
            asked.route, method: asked.request.method.rawValue, code: status.code, bytes: UInt64(bytes),
            seconds: seconds)
    }
}
