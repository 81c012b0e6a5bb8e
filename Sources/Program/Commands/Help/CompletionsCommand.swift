import ArgumentParser
internal import CommandSupport

/// `packhorse completions`: the script that completes commands and options in a shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print the script that completes commands and options in a shell.",
        discussion: """
            docs/shell.md describes where each shell expects it.
            Examples:
              packhorse completions bash > ~/.local/share/bash-completion/completions/packhorse
              packhorse completions zsh > ~/.zsh/completions/_packhorse
              packhorse completions fish > ~/.config/fish/completions/packhorse.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "The shell.") var shell: Shell

    func run() throws {
        let kind: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Console.page(RootCommand.completionScript(for: kind))
    }
}
