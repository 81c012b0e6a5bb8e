internal import HummingbirdCore
internal import WebServer

/// One endpoint: all that the gateway knows of it.
///
/// Rows of ``RouteTable`` are the only place that names an endpoint. The router, the checks before a handler, metrics and
/// the OpenAPI document are made from them.
struct Route: Sendable {
    /// A method.
    enum Method: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// Who may use a route.
    enum Access: String, Sendable, Hashable {
        /// Everybody.
        case open
        /// Everybody, or holders of a token where the gateway is private.
        case published
        case metrics
        case viewer
        case `operator`
        case client
        /// Holders of a token with any role.
        case anyRole
    }

    /// The group of a route in metrics and in the OpenAPI document.
    enum Group: String, Sendable, Hashable, CaseIterable {
        case list, file, tile, style, api, events, extract, page
    }

    /// Makes the answer.
    typealias Handler = @Sendable (RoutedRequest) async throws(Problem) -> Response

    /// Makes the answer on the event loop of the connection when nothing must be waited for, and never blocks.
    typealias QuickHandler = @Sendable (RoutedRequest) throws(Problem) -> QuickAnswer

    /// What is known without waiting.
    enum QuickAnswer: Sendable {
        case ready(WholeAnswer)
        /// This handler makes the answer; nothing was counted or changed before.
        case waits(Handler)
    }

    let method: Method
    /// The path as OpenAPI writes it: `/tiles/{id}.json`; `{path+}` at the end stands for one or more segments.
    let path: String
    /// The name in metrics and logs, and the operation in the OpenAPI document; several paths may share it.
    let name: String
    let group: Group
    let access: Access
    /// Which rate a request counts for; `nil` for none.
    let rate: RateKind?
    let summary: String
    /// The parameters of the query.
    let query: [String]
    /// The header fields of a request, without those of all.
    let headers: [String]
    /// The name of the schema of the body; `nil` without a body.
    let body: String?
    let answer: RouteAnswer
    let pattern: RoutePattern
    /// `nil` = ``handle`` makes all answers.
    let handleNow: QuickHandler?
    let handle: Handler

    init(
        _ method: Method, _ path: String, name: String, group: Group = .api, access: Access, rate: RateKind? = .api,
        summary: String, query: [String] = [], headers: [String] = [], body: String? = nil, answer: RouteAnswer,
        now: QuickHandler? = nil, handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.name = name
        self.group = group
        self.access = access
        self.rate = rate
        self.summary = summary
        self.query = query
        self.headers = headers
        self.body = body
        self.answer = answer
        pattern = RoutePattern(path)
        handleNow = now
        handle = handler
    }

    /// Whether its answer shows what is in the catalog, other than the content of a file.
    var showsCatalog: Bool {
        switch group {
        case .list, .style, .api, .extract, .page: access != .open && access != .metrics
        case .file, .tile, .events: false
        }
    }

    /// Whether a CARTO client uses it, whose token is a parameter.
    var isCarto: Bool { query.contains("appToken") }
}

/// What a route answers with when all is well, for the OpenAPI document; a test compares it with what the server sends.
struct RouteAnswer: Sendable, Hashable {
    /// The media types.
    var media: [String]
    /// The name of the schema of a JSON document; `nil` for other documents.
    var schema: String?
    /// What a status means.
    var statuses = [200: "The content"]

    /// A document in one of several types; `also` names further statuses.
    static func media(_ media: [String], also: [Int: String] = [:]) -> RouteAnswer {
        var answer = RouteAnswer(media: media)
        answer.statuses.merge(also) { $1 }
        return answer
    }

    /// A JSON document; `also` names further statuses.
    static func json(_ schema: String?, also: [Int: String] = [:]) -> RouteAnswer {
        var answer = media(["application/json"], also: also)
        answer.schema = schema
        return answer
    }
}
