internal import ClusterClient
internal import Foundation
internal import Synchronization
internal import Wire

/// The last events as streams send them: each is encoded once, however many streams there are.
final class EventTexts: Sendable {
    /// By number, with the time of the event: after a restored backup another event may have the number.
    private let texts = Mutex<[UInt64: (wall: Int64, text: String)]>([:])
    /// More than the streams that wait for new events need.
    private static let maxTexts = 2_000

    /// The lines of an event.
    func text(of event: PBEventRecord) -> String {
        if let known = texts.withLock({ $0[event.seq] }), known.wall == event.wallMs { return known.text }
        let text = Self.encode(event)
        texts.withLock { texts in
            if texts.count >= Self.maxTexts { texts.removeAll(keepingCapacity: true) }
            texts[event.seq] = (event.wallMs, text)
        }
        return text
    }

    private static func encode(_ event: PBEventRecord) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // The view has texts and numbers only, which can always be encoded; JSON has no line break outside of texts.
        let data = (try? encoder.encode(event)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return "id: \(event.seq)\nevent: \(event.kind)\ndata: \(data)\n\n"
    }
}
