import ArgumentParser
import CommandSupport
import Errors
import Foundation

/// The `packhorse-bench` program: measurements of parts of Packhorse, for `ops/bench`.
@main
struct PackhorseBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packhorse-bench", abstract: "Measures parts of Packhorse.",
        discussion: "Example: packhorse-bench pieces --tiles 4000",
        subcommands: [PiecesCommand.self, WorkersCommand.self])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as CLIError {
            Console.error(error)
            Foundation.exit(error.status.rawValue)
        } catch let error as any CodedError {
            Console.error(CLIError(error.exitStatus, error.message, details: error.details, hint: error.hint))
            Foundation.exit(error.exitStatus.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
