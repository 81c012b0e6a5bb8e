/// An operator's limit for an origin, in addition to the limits of the tilesets.
///
/// The strictest limit applies.
public struct OperatorLimit: Hashable, Sendable {
    /// Requests started per second, above 0; `nil` = no limit by the operator.
    public var perSecond: Double?
    /// Requests in flight at the same time, at least 1; `nil` = no limit by the operator.
    public var concurrency: Int?
    /// Bytes received per second, at least 1; `nil` = no limit by the operator.
    public var bytesPerSecond: Double?

    /// A limit.
    ///
    /// A value that is not a positive number means no limit.
    public init(perSecond: Double?, concurrency: Int?, bytesPerSecond: Double? = nil) {
        self.bytesPerSecond = bytesPerSecond.flatMap { $0.isFinite && $0 > 0 ? max($0, 1) : nil }
        self.perSecond = perSecond.flatMap { $0.isFinite && $0 > 0 ? max($0, 0.001) : nil }
        self.concurrency = concurrency.flatMap { $0 > 0 ? min($0, 1_000_000) : nil }
    }

    /// Whether it contains no limit.
    public var isEmpty: Bool { perSecond == nil && concurrency == nil && bytesPerSecond == nil }
}

/// Operator limits by origin.
public typealias OperatorLimits = [String: OperatorLimit]

extension OriginLimits {
    /// The stricter value of these limits and the operator's limit, for each kind.
    func within(_ limit: OperatorLimit?) -> OriginLimits {
        guard let limit else { return self }
        return strictest(
            OriginLimits(
                perSecond: limit.perSecond, concurrency: limit.concurrency ?? concurrency,
                bytesPerSecond: limit.bytesPerSecond))
    }
}

extension Scheduler {
    /// Largest number of origins with an operator limit.
    public static let maxOperatorLimits = 1_000

    /// Every operator limit by origin.
    public var operatorLimits: OperatorLimits { rates.operatorLimits }

    /// Sets or removes an operator limit.
    mutating func limitOrigin(_ origin: String, to limit: OperatorLimit?) {
        let limit = limit.flatMap { $0.isEmpty ? nil : $0 }
        guard rates.operatorLimits[origin] != limit else { return }
        guard
            limit == nil || rates.operatorLimits[origin] != nil || rates.operatorLimits.count < Self.maxOperatorLimits
        else { return }
        rates.limit(origin, to: limit)
        store(.originLimit(origin, limit))
    }

    /// Why an origin cannot be opened; `nil` = it can be opened.
    public func refusal(ofOpening origin: String) -> Refusal? {
        guard rates.book(origin) == nil else { return nil }
        return Refusal(
            "unknown-origin", "The origin '\(origin.prefix(80))' is not used by an unfinished job or a worker.",
            hint: "packhorse origins lists the origins in use")
    }

    /// Why an operator limit cannot be stored; `nil` = it can be stored.
    public func refusal(ofLimiting origin: String) -> Refusal? {
        guard rates.operatorLimits[origin] == nil, rates.operatorLimits.count >= Self.maxOperatorLimits else {
            return nil
        }
        return Refusal(
            "busy", "\(Self.maxOperatorLimits) origins have a limit already, which is the maximum.",
            hint: "remove one with: packhorse origins limit NAME --clear")
    }
}
