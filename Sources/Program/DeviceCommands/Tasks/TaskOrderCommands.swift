import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps

/// The tasks that an order is for.
struct TaskArguments: ParsableArguments {
    @Argument(help: "Numbers of tasks, as packhorse device tasks lists them.") var tasks: [Int64] = []
    @Flag(help: "All tasks that can take the order.") var all = false

    func validate() throws {
        guard tasks.isEmpty == all else { throw ValidationError("Give the numbers of tasks, or --all.") }
    }

    /// The named tasks, or all that an order fits.
    ///
    /// - Throws: ``CLIError`` 66 for a number without a task.
    func chosen(in store: MapStore, _ fits: (StoreTask) -> Bool) async throws -> [StoreTask] {
        let queue = try await store.tasks()
        if all { return queue.filter(fits) }
        return try tasks.map { number in
            guard let task = queue.first(where: { $0.id.number == number }) else {
                throw CLIError(
                    .noInput, "there is no task \(number)", hint: "list the tasks: packhorse device tasks")
            }
            return task
        }
    }
}

/// `packhorse device pause`.
struct DevicePauseCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause tasks; they stay in the queue, also over a restart.",
        discussion: """
            Sets the priority -1. A task that a running process works on stops within 100 ms.
            Example: packhorse device pause 3 --store ./maps
            """)

    @OptionGroup var tasks: TaskArguments
    @OptionGroup var store: StoreArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        for task in try await tasks.chosen(in: store, { $0.priority >= 0 && !$0.state.isOver }) {
            try await store.setPriority(-1, of: task.id)
            Console.result("paused task \(task.id.number): \(task.words)")
        }
    }
}

/// `packhorse device resume`.
struct DeviceResumeCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Let paused tasks continue.",
        discussion: """
            The tasks continue in the process that works on the store; without one, start packhorse device run.
            Example: packhorse device resume 3 --priority 5 --store ./maps
            """)

    @OptionGroup var tasks: TaskArguments
    @Option(help: "The priority; higher is first.") var priority: Int32 = 0
    @OptionGroup var store: StoreArguments

    func validate() throws {
        guard priority >= 0 else { throw ValidationError("--priority must be at least 0; pause has -1.") }
    }

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        for task in try await tasks.chosen(in: store, { $0.priority < 0 }) {
            try await store.setPriority(priority, of: task.id)
            Console.result("resumed task \(task.id.number): \(task.words)")
        }
    }
}

/// `packhorse device cancel`.
struct DeviceCancelCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel tasks and remove what they have downloaded.",
        discussion: "Example: packhorse device cancel 3 --store ./maps")

    @OptionGroup var tasks: TaskArguments
    @OptionGroup var store: StoreArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        for task in try await tasks.chosen(in: store, { !$0.state.isOver }) {
            try await store.cancel(task.id)
            Console.result("cancelled task \(task.id.number): \(task.words)")
        }
    }
}

/// `packhorse device retry`.
struct DeviceRetryCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try failed tasks again.",
        discussion: """
            Waits for the tasks, as install does.
            Example: packhorse device retry --all --store ./maps
            """)

    @OptionGroup var tasks: TaskArguments
    @OptionGroup var store: StoreArguments
    @OptionGroup var wait: WaitArguments

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let chosen = try await tasks.chosen(in: store) { if case .failed = $0.state { true } else { false } }
        try await wait.run(store) {
            for task in chosen { try await store.retry(task.id) }
            return chosen.map(\.id)
        }
    }
}
