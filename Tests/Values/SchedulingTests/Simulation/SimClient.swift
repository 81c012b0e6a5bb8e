import Scheduling

/// What a client may ask of a job it has submitted.
enum SimOrder: Equatable {
    case cancel, pause, resume, retry, requeue, drop
    case prioritise(Int32)
    case weigh(UInt32)
}

/// Someone who submits a job, may change their mind, and repeats themselves until they are answered.
struct SimClient {
    struct Step {
        let order: SimOrder
        /// How long after the last answer.
        let after: Int64
    }
    /// Longer than any message can linger: what is repeated must not arrive behind the opposite order.
    static let gap: Int64 = 20_000

    let spec: Int
    let submitAt: Int64
    let steps: [Step]
    /// Whether the job is to follow the one of the client before.
    let follows: Bool
    var job: JobID?
    var isRefused = false
    /// Steps that were answered.
    var done = 0
    /// When the next step is due.
    var dueAt: Int64 = 0

    var isContent: Bool { isRefused || (job != nil && done == steps.count) }
    var ordersCancel: Bool { steps.contains { $0.order == .cancel } }

    /// What people do: nothing, or one of these.
    static func whims(_ random: inout SeededRandom) -> [Step] {
        func step(_ order: SimOrder) -> Step { Step(order: order, after: random.below(Int64(60_000))) }
        switch random.below(8) {
        case 0: return [step(.cancel)]
        case 1: return [step(.pause), step(.resume)]
        case 2: return [step(.pause), step(.cancel), step(.retry)]
        case 3: return [step(.cancel), step(.retry)]
        case 4: return [step(.prioritise(2)), step(.weigh(5)), step(.prioritise(0))]
        case 5: return [step(.requeue), step(.requeue), step(.requeue)]
        case 6: return [Step(order: .retry, after: 150_000), Step(order: .retry, after: 100_000)]
        default: return [step(.drop), step(.pause), step(.resume), step(.requeue)]
        }
    }
}
