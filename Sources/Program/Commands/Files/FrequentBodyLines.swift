import Digests
internal import TextFormats

extension FrequentBody {
    /// A line for people: `body      12.3 %  103 B  3f2a…`, with the whole digest.
    var line: String {
        "body      \(Units.decimal(share * 100, places: 1)) %  \(Units.bytes(UInt64(bytes)))  \(sha256)"
    }
}
