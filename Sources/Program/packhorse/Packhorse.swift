import Commands

/// The `packhorse` program: everything is in module Commands.
@main
struct Packhorse {
    static func main() async {
        await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()))
    }
}
