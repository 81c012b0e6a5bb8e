/// What an operator allows an origin to be asked, beside the limits of the tilesets: the strictest counts.
public struct OperatorLimit: Hashable, Sendable {
    /// Requests started per second, above 0; `nil` = the operator sets none.
    public var perSecond: Double?
    /// Requests in flight at once, at least 1; `nil` = the operator sets none.
    public var concurrency: Int?

    /// A limit; what is no positive number counts as none.
    public init(perSecond: Double?, concurrency: Int?) {
        self.perSecond = perSecond.flatMap { $0.isFinite && $0 > 0 ? max($0, 0.001) : nil }
        self.concurrency = concurrency.flatMap { $0 > 0 ? min($0, 1_000_000) : nil }
    }

    /// Whether it limits nothing.
    public var isEmpty: Bool { perSecond == nil && concurrency == nil }
}

/// Operators' limits by origin.
public typealias OperatorLimits = [String: OperatorLimit]

extension OriginLimits {
    /// These limits and the operator's: of each the stricter.
    func within(_ limit: OperatorLimit?) -> OriginLimits {
        guard let limit else { return self }
        return strictest(OriginLimits(perSecond: limit.perSecond, concurrency: limit.concurrency ?? concurrency))
    }
}

extension Scheduler {
    /// Most origins with an operator's limit.
    public static let mostOperatorLimits = 1_000

    /// Every operator's limit by origin.
    public var operatorLimits: OperatorLimits { rates.operatorLimits }

    /// Sets an operator's limit, or removes it.
    mutating func limitOrigin(_ origin: String, _ limit: OperatorLimit?) {
        let limit = limit.flatMap { $0.isEmpty ? nil : $0 }
        guard rates.operatorLimits[origin] != limit else { return }
        guard
            limit == nil || rates.operatorLimits[origin] != nil || rates.operatorLimits.count < Self.mostOperatorLimits
        else { return }
        rates.limit(origin, limit)
        store(.originLimit(origin, limit))
    }

    /// Why an origin cannot be opened; `nil` = it can.
    public func refusal(ofOpening origin: String) -> Refusal? {
        guard rates.book(origin) == nil else { return nil }
        return Refusal(
            "unknown-origin", "No unfinished job and no worker uses the origin '\(origin.prefix(80))'.",
            hint: "packhorse origins lists the origins in use")
    }

    /// Why an operator's limit cannot be kept; `nil` = it can.
    public func refusal(ofLimiting origin: String) -> Refusal? {
        guard rates.operatorLimits[origin] == nil, rates.operatorLimits.count >= Self.mostOperatorLimits else {
            return nil
        }
        return Refusal(
            "busy", "\(Self.mostOperatorLimits) origins have a limit already, and no more are kept.",
            hint: "remove one with: packhorse origins limit NAME --clear")
    }
}
