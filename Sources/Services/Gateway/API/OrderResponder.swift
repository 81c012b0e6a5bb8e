internal import ClusterClient
internal import Errors
internal import HTTPTypes
internal import HummingbirdCore
internal import WebRequests
internal import Wire

/// Gives orders to the coordinator.
enum OrderResponder {
    static func job(_ routed: RoutedRequest) async throws(Problem) -> Response {
        try await orders([try routed.job], try await JSONBody.read(JobOrder.self, routed.request), routed)
    }

    static func jobs(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let order = try await JSONBody.read(JobOrder.self, routed.request)
        guard let jobs = order.jobs, 1...1_000 ~= jobs.count else {
            throw Problem(.badJSON, "'jobs' is a list of 1 to 1,000 numbers of jobs.")
        }
        return try await orders(jobs, order, routed)
    }

    private struct JobOrder: Codable, Sendable {
        let order: String
        let jobs: [UInt64]?
        let priority: Int32?
        let weight: UInt32?
    }

    private struct Done: Encodable, Sendable {
        let job: UInt64
        let changed: UInt64?
        let text: String?
        /// The code of the problem; absent when the order was obeyed.
        let code: String?
    }

    /// Sends one order for some jobs; an order for one job fails as a whole.
    private static func orders(
        _ jobs: [UInt64], _ order: JobOrder, _ routed: RoutedRequest
    ) async throws(Problem) -> Response {
        // The word of the wire for the weight is an older one.
        let words = [
            "pause": "pause", "resume": "resume", "retry": "retry", "cancel": "cancel", "prioritise": "prioritise",
            "weight": "weigh",
        ]
        guard let word = words[order.order] else {
            throw Problem(.wrongRequest, "'order' is one of \(words.keys.sorted().joined(separator: ", ")).")
        }
        guard order.order != "prioritise" || order.priority != nil, order.order != "weight" || order.weight != nil
        else {
            throw Problem(.wrongRequest, "The order '\(order.order)' needs its value.")
        }
        var done: [Done] = []
        for job in jobs {
            do throws(Problem) {
                let answer = try await routed.services.cluster.ask { client in
                    guard word != "cancel" else {
                        try await client.cancel(job)
                        return PBOrdered()
                    }
                    return try await client.order(
                        .make {
                            $0.job = job
                            $0.order = word
                            $0.priority = order.priority ?? 0
                            $0.weight = order.weight ?? 0
                        })
                }
                done.append(Done(job: job, changed: answer.changed, text: answer.text, code: nil))
            } catch {
                guard jobs.count > 1, error.code != .coordinatorAway else { throw error }
                done.append(Done(job: job, changed: nil, text: error.detail, code: error.code.rawValue))
            }
        }
        return APIResponder.json(["jobs": done])
    }

    private struct Ordered: Encodable, Sendable {
        let changed: UInt64
        let text: String
    }

    static func failed(_ routed: RoutedRequest) async throws(Problem) -> Response {
        struct Order: Codable, Sendable {
            let order: String
            let batches: [UInt64]?
        }
        let job = try routed.job
        let order = try await JSONBody.read(Order.self, routed.request)
        guard ["requeue", "drop"].contains(order.order) else {
            throw Problem(.wrongRequest, "'order' is requeue or drop.")
        }
        let answer = try await routed.services.cluster.ask {
            try await $0.orderFailed(job, order.order, batches: order.batches ?? [])
        }
        return APIResponder.json(Ordered(changed: answer.changed, text: answer.text))
    }

    static func worker(_ routed: RoutedRequest) async throws(Problem) -> Response {
        struct Order: Codable, Sendable { let order: String }
        let name = routed["worker"]
        let order = try await JSONBody.read(Order.self, routed.request)
        guard ["drain", "undo"].contains(order.order) else { throw Problem(.wrongRequest, "'order' is drain or undo.") }
        let answer = try await routed.services.cluster.ask { try await $0.drain(name, undo: order.order == "undo") }
        return APIResponder.json(Ordered(changed: answer.changed, text: answer.text))
    }

    static func dropSchedule(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let id = routed["schedule"]
        let answer = try await routed.services.cluster.ask { try await $0.order(schedule: id, "drop") }
        return APIResponder.json(Ordered(changed: answer.changed, text: answer.text))
    }

    static func schedule(_ routed: RoutedRequest) async throws(Problem) -> Response {
        struct Order: Codable, Sendable { let order: String }
        let id = routed["schedule"]
        let order = try await JSONBody.read(Order.self, routed.request)
        guard ["pause", "resume"].contains(order.order) else {
            throw Problem(.wrongRequest, "'order' is pause or resume.")
        }
        let answer = try await routed.services.cluster.ask { try await $0.order(schedule: id, order.order) }
        return APIResponder.json(Ordered(changed: answer.changed, text: answer.text))
    }

    /// Withdraws from one channel, or without parameters from every channel.
    static func withdraw(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let id = routed["package"]
        let edition = PBEdition.make {
            $0.group = routed.path.parameter("group") ?? ""
            $0.language = routed.path.parameter("language") ?? ""
        }
        let answer = try await routed.services.cluster.ask { try await $0.withdraw([id], edition: edition) }
        await routed.services.watch.refresh()
        return APIResponder.json(Ordered(changed: answer.changed, text: answer.text))
    }

    static func backup(_ routed: RoutedRequest) async throws(Problem) -> Response {
        struct Order: Codable, Sendable { let name: String }
        let order = try await JSONBody.read(Order.self, routed.request)
        let answer = try await routed.services.cluster.ask { try await $0.backup(order.name) }
        return APIResponder.json(BackupView(answer), status: .created)
    }
}
