import Scheduling

extension Event {
    /// A line for the record.
    var brief: String {
        switch self {
        case .submit(let job): "submit \(job.requestID)"
        case .hello(let id, _, let held): "hello \(id) held \(held)"
        case .ready(let id, let credit, let merges, _): "ready \(id) credit \(credit)+\(merges)"
        case .progress(let id, let reports, _, _, _): "progress \(id) \(reports.map { "\($0.token):\($0.done)" })"
        case .commit(let id, let token, let result): "commit \(id) \(token) \("\(result.blob)".prefix(8))"
        case .refusedCommit(let id, let token, let trouble): "refused commit \(id) \(token) \(trouble.cause)"
        case .fail(let id, let token, let trouble, _, _): "fail \(id) \(token) \(trouble.cause)"
        default: "\(self)"
        }
    }
}

extension Outgoing {
    /// A line for the record.
    var brief: String {
        switch self {
        case .ack(let token, let digest): "ack \(token) \("\(digest)".prefix(8))"
        case .offer(let offer): "offer \(offer.token) job \(offer.job) attempt \(offer.attempt) \(offer.work)"
        default: "\(self)"
        }
    }
}
