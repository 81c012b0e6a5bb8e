import Logging
import Scheduling
import Telemetry
import Wire

extension ControlHandlers {
    /// The answer to `packhorse origins`.
    func origins() -> Message {
        .origins(.make { $0.origins = state.scheduler.origins(now: environment.now).map(WireConversions.status) })
    }

    /// Carries out an order for an origin, or returns the refusal.
    func order(_ body: PBOriginOrder, _ replyAddress: ReplyAddress) {
        let name = body.limit.origin
        let limit = WireConversions.limit(body.limit)
        do throws(Refusal) {
            switch body.order {
            case "open":
                if let refusal = state.scheduler.refusal(ofOpening: name) { throw refusal }
                let before = state.scheduler.origins(now: environment.now).first { $0.name == name }
                state.handle(.openOrigin(name))
                let isShut = ["blocked", "broken", "probing"].contains(before?.state)
                let text = isShut ? "\(name) was \(before?.state ?? "") and is open" : "\(name) was open already"
                ordered(changed: isShut ? 1 : 0, text, replyAddress)
            case "limit":
                guard limit != nil, !name.isEmpty else {
                    throw Refusal("bad-request", "The order names no origin or no limit.")
                }
                if let refusal = state.scheduler.refusal(ofLimiting: name) { throw refusal }
                set(limit, for: name, replyAddress)
            case "clear": set(nil, for: name, replyAddress)
            default:
                throw Refusal(
                    "bad-request", "'\(body.order.prefix(40))' is not an order. Use open, limit or clear.")
            }
            environment.logger.info(
                "Origin order received", metadata: [LogKey.origin: "\(name)", LogKey.order: "\(body.order)"])
        } catch {
            state.reply(WireConversions.problem(error), to: replyAddress)
        }
    }

    private func set(_ limit: OperatorLimit?, for name: String, _ replyAddress: ReplyAddress) {
        let before = state.scheduler.operatorLimits[name]
        state.handle(.limitOrigin(name, limit))
        let view = state.scheduler.origins(now: environment.now).first { $0.name == name }
        let text =
            if limit != nil {
                "\(name) is limited" + (view?.state == "unused" ? "; no unfinished job uses it now" : "")
            } else {
                before == nil ? "\(name) had no operator limit" : "the operator limit of \(name) is removed"
            }
        ordered(changed: before == limit ? 0 : 1, text, replyAddress)
    }
}
