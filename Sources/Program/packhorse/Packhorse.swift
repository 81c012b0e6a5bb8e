import CBuildCommit
import Commands

/// The `packhorse` program: everything is in module Commands.
@main
struct Packhorse {
    static func main() async {
        // Here and in no module, so that another commit compiles only this file.
        let commit = String(cString: packhorse_build_commit())
        await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()), commit: commit)
    }
}
