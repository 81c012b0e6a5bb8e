import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps

/// `packhorse device run`.
struct DeviceRunCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Do the tasks of the queue, and end when it is empty.",
        discussion: """
            With --forever it waits for further tasks, as the library does inside an app.
            Examples:
              packhorse device run --store ./maps
              packhorse device run --forever --store ./maps
            """)

    @OptionGroup var store: StoreArguments
    @Flag(help: "Continue when the queue is empty, until Ctrl-C.") var forever = false
    @OptionGroup var progress: ProgressOptions

    func work() async throws {
        let store = try await DeviceStore.openExisting(store)
        let follower = TaskFollower(store, progress.style.progress)
        let ids = try await store.tasks().map(\.id)
        try await store.start()
        if forever {
            Console.note("working; Ctrl-C ends it")
            do {
                try await EventPrinter.run(store, json: progress.json)
            } catch {
                await store.stop()
                throw error
            }
            return
        }
        let tasks: [StoreTask]
        do {
            tasks = try await follower.wait(for: ids)
        } catch {
            await store.stop()
            throw error
        }
        await store.stop()
        if progress.json {
            Console.result(try JSONText.pretty(tasks.map(TaskView.init)))
        } else {
            for task in tasks { Console.result("\(task.words): \(task.state.words.state)") }
        }
        try await DeviceRegion.warnOfEmpty(tasks, in: store)
        if let problem = tasks.lazy.compactMap(\.problem).first { throw problem }
    }
}
