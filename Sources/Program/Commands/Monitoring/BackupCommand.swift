import ArgumentParser
internal import ClusterClient
internal import CommandSupport
internal import TextFormats
import Wire

/// `packhorse backup`: copies the coordinator's state while it is running.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the coordinator's state file while it is running.",
        discussion: """
            The copy is written to the folder 'backups' in the coordinator's data folder. It does not contain blobs and catalog.
            Restore it with: packhorse state restore FILE --data FOLDER

            Example: packhorse backup before-upgrade
            """)

    @Argument(help: "A name: letters, digits and -_. ; default: the date and time.") var name: String = ""
    @Flag(help: "Print the result as JSON.") var json = false
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let made = try await cluster.withClient {
            try await $0.backup(name.hasSuffix(".sqlite") ? String(name.dropLast(7)) : name)
        }
        if json { return Console.result(try JSONText.pretty(BackupView(made))) }
        Console.result(made.path)
        Console.note("\(Units.bytes(made.bytes)) written by the coordinator")
    }
}
