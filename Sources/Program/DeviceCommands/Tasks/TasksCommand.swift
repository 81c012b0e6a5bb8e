import ArgumentParser
internal import CommandSupport
import OfflineMaps
internal import TextFormats

/// `packhorse device tasks`.
struct DeviceTasksCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "tasks", abstract: "List the tasks of the durable queue.",
        discussion: """
            Tasks stay in the queue when a command ends, and continue with packhorse device run.
            Example: packhorse device tasks --store ./maps
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func work() async throws {
        let tasks = try await DeviceStore.openExisting(store).tasks()
        if json { return Console.result(try JSONText.pretty(tasks.map(TaskView.init))) }
        var table = Table("task", "what", "priority", "state", "why", "done", "received")
        for task in tasks {
            let (state, reason) = task.state.words
            table.add(
                "\(task.id.number)", task.words, "\(task.priority)", state, reason ?? "-",
                "\(Int(task.progress.fraction * 100)) %", Units.bytes(task.progress.transferred))
        }
        table.lines.forEach(Console.result)
    }
}
