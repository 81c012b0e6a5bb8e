internal import WebRequests

/// Finds the route of a request: a tree of segments that is made once from the table.
struct Router: Sendable {
    /// What a request asks for.
    enum Match: Sendable {
        case found(Route, [String: String])
        /// The path exists with other methods.
        case otherMethod(allowed: [String])
        case unknown
    }

    /// What follows the segments before; numbers are places in `nodes` or in `routes`.
    private struct Node {
        var texts: [String: Int] = [:]
        var parameters: [(segment: RoutePattern.Segment, node: Int)] = []
        /// Routes that end here.
        var routes: [Int] = []
        /// Routes whose last parameter takes all that follows.
        var rests: [Int] = []
    }

    /// The router of the gateway.
    static let shared = Router(RouteTable.routes)

    private let routes: [Route]
    private var nodes = [Node()]

    /// - Parameter routes: Of two that fit a path, the first one is taken.
    init(_ routes: [Route]) {
        self.routes = routes
        for (number, route) in routes.enumerated() { insert(number, route.pattern) }
    }

    private mutating func insert(_ number: Int, _ pattern: RoutePattern) {
        var place = 0
        for segment in pattern.segments {
            var known: Int?
            switch segment {
            case .rest:
                nodes[place].rests.append(number)
                return
            case .text(let text):
                known = nodes[place].texts[text]
                if known == nil { nodes[place].texts[text] = nodes.count }
            case .parameter:
                known = nodes[place].parameters.first { $0.segment == segment }?.node
                if known == nil { nodes[place].parameters.append((segment, nodes.count)) }
            }
            if known == nil { nodes.append(Node()) }
            place = known ?? nodes.count - 1
        }
        nodes[place].routes.append(number)
    }

    /// The route of a path.
    ///
    /// - Parameter method: The word of the request; HEAD is allowed where GET is.
    func find(_ method: String, _ path: RequestPath) -> Match {
        var numbers: [Int] = []
        collect(path.segments[...], from: 0, into: &numbers)
        let wanted = method == "HEAD" ? "GET" : method
        let fitting = numbers.sorted().map { routes[$0] }
        if let route = fitting.first(where: { $0.method.rawValue == wanted }) {
            return .found(route, route.pattern.values(path.segments))
        }
        guard !fitting.isEmpty else { return .unknown }
        var allowed: [String] = []
        for word in fitting.flatMap({ $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] })
        where !allowed.contains(word) { allowed.append(word) }
        return .otherMethod(allowed: allowed)
    }

    /// Adds the routes that fit the rest of a path.
    private func collect(_ segments: ArraySlice<String>, from place: Int, into numbers: inout [Int]) {
        guard let first = segments.first else {
            numbers += nodes[place].routes
            return
        }
        // Only the last segment of a path may be empty.
        if !(first.isEmpty && segments.count == 1) { numbers += nodes[place].rests }
        if let next = nodes[place].texts[first] { collect(segments.dropFirst(), from: next, into: &numbers) }
        for (segment, next) in nodes[place].parameters where segment.fits(first) {
            collect(segments.dropFirst(), from: next, into: &numbers)
        }
    }
}
