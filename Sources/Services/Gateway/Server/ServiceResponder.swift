internal import CatalogFormat
internal import Errors
internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import MetricsFormat
internal import NIOCore
internal import TextFormats
internal import WebServer

/// Answers about the gateway itself.
enum ServiceResponder {
    static func health(_ routed: RoutedRequest) -> Response { text("ok") }

    static func openAPI(_ routed: RoutedRequest) throws(Problem) -> Response {
        try DocumentResponder.respond(ServedDocument(OpenAPIDocument.bytes), to: routed.request)
    }

    /// 200 when the catalog can be read now.
    static func ready(_ routed: RoutedRequest) throws(Problem) -> Response {
        let state = routed.services.watch.current
        if let problem = state.problem { throw Problem(.catalogAway, problem.message, retryAfter: 2) }
        guard let snapshot = state.snapshot else {
            throw Problem(.catalogAway, "The catalog was not read yet.", retryAfter: 2)
        }
        struct Ready: Encodable {
            let packages: Int
            let sequence: Int64?
        }
        return json(Ready(packages: snapshot.index.packages.count, sequence: snapshot.index.sequence))
    }

    /// The metrics.
    static func metrics(_ routed: RoutedRequest) -> Response {
        let services = routed.services
        var text = MetricsText()
        services.metrics.write(to: &text)
        text.single(GatewayMetric.connections, Double(services.connections.count))
        text.single(GatewayMetric.eventStreams, Double(services.streams.count))
        if let isAnswering = services.link?.isAnswering {
            text.single(GatewayMetric.coordinatorUp, isAnswering ? 1 : 0)
        }
        text.single(GatewayMetric.openArchives, Double(services.archives.count))
        if let snapshot = services.watch.current.snapshot {
            let index = snapshot.index
            let bytes = snapshot.files.values.reduce(0.0) { $0 + Double($1.size) }
            text.single(GatewayMetric.catalogSequence, Double(index.sequence ?? 0))
            text.single(GatewayMetric.catalogPackages, Double(index.packages.count))
            text.single(GatewayMetric.catalogBytes, bytes)
            text.single(GatewayMetric.catalogChanged, snapshot.readAt)
        }
        ProcessMetrics.write(to: &text)
        return Response(
            status: .ok,
            headers: [.contentType: MetricsText.contentType, .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text.text)))
    }

    /// The page of an error code.
    static func problem(_ routed: RoutedRequest) throws(Problem) -> Response {
        let word = routed["code"]
        guard let code = ProblemCode(rawValue: word) else {
            throw Problem(.notFound, "There is no error code '\(word.prefix(60))'.")
        }
        return text("\(code.status) \(code.rawValue)\n\(code.title).\n\(code.remedy)")
    }

    private static func text(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(bytes: JSONDocument.encode(value))))
    }
}
