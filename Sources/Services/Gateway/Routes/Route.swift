internal import WebRequests

/// What a request asks for.
enum Route: Sendable, Hashable {
    case found(Endpoint, [String: String])
    /// The path exists with other methods.
    case otherMethod(allowed: [String])
    case unknown

    /// Looks a path up in the table.
    ///
    /// - Parameter method: The word of the request; HEAD is allowed where GET is.
    init(_ method: String, _ path: RequestPath, in rows: [RouteRow] = RouteTable.rows) {
        let wanted = method == "HEAD" ? Method.get : Method(rawValue: method)
        var others: [Method] = []
        for row in rows {
            guard let values = row.pattern.match(path.segments) else { continue }
            guard row.method != wanted else {
                self = .found(row.endpoint, values)
                return
            }
            others.append(row.method)
        }
        guard !others.isEmpty else {
            self = .unknown
            return
        }
        var allowed: [String] = []
        for method in others.flatMap({ $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }) where !allowed.contains(method) {
            allowed.append(method)
        }
        self = .otherMethod(allowed: allowed)
    }
}
