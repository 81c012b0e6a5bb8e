internal import Foundation
internal import TextFormats
package import Wire

/// A line of the log as printed.
package struct EventView: Encodable, Sendable {
    package let seq: UInt64
    package let time: String
    package let job: UInt64
    package let kind: String
    package let text: String
    package let data: String

    package init(_ event: PBEventRecord) {
        seq = event.seq
        time = UTCTime.text(milliseconds: event.wallMs)
        job = event.job
        kind = event.kind
        text = event.text
        data = event.data.base64EncodedString()
    }
}
