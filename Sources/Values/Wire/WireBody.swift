/// A message body that can be filled in one expression, so that its users need not import SwiftProtobuf.
///
/// Every message of packhorse.proto conforms to it; the conformances are generated.
public protocol WireBody {
    /// The body with all fields at their defaults.
    init()
}

extension WireBody {
    /// A body filled in by `fill`: `PBReady.make { $0.credit = 5 }`.
    public static func make(_ fill: (inout Self) throws -> Void) rethrows -> Self {
        var body = Self()
        try fill(&body)
        return body
    }
}
