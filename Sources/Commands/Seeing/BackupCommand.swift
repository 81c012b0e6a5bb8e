import ArgumentParser
import Wire

/// `packhorse backup`: a copy of the coordinator's state, made while it runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the coordinator's state file while it works.",
        discussion: """
            The copy lies in the folder 'backups' of the coordinator's data folder; blobs and catalog are not part of it.
            Go back to it with: packhorse state restore FILE --data FOLDER

            Example: packhorse backup before-upgrade
            """)

    @Argument(help: "A name: letters, digits and -_. ; without one the date and time.") var name: String = ""
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let made = try await cluster.withClient {
            try await $0.backup(name.hasSuffix(".sqlite") ? String(name.dropLast(7)) : name)
        }
        Console.result(made.path)
        Console.note("\(Units.bytes(made.bytes)) written by the coordinator")
    }
}
