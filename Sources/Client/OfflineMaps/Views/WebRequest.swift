internal import Foundation

/// A request for something that is viewed.
struct WebRequest: Sendable {
    /// The address as the style has it, before ``StoreOptions/transform``.
    var address: String
    var kind: ResourceRequest.Kind
    var headers: [String: String] = [:]
    /// The tile, where it is one of a tileset.
    var place: AmbientEntry.Place?
    /// How long the request may take.
    var timeout = Duration.seconds(30)
    /// The limits of the server.
    var gate: RequestGate?

    /// Whether 204, 404 and 410 mean that the server has no such tile, which is remembered.
    var mayBeEmpty: Bool { kind == .tile }

    /// The largest body taken.
    var maxBytes: Int {
        switch kind {
        case .tile, .glyphs, .sprite, .image: 16 << 20
        case .style, .source: 4 << 20
        default: 64 << 20
        }
    }
}

/// What is known of something that is viewed.
enum WebAnswer: Sendable {
    /// A body; stale when the server could not be asked.
    case body(AmbientEntry, isStale: Bool)
    /// The server has no such thing.
    case empty(AmbientEntry)
    /// It is not here, and no request may be sent.
    case absent
}
