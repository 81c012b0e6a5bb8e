import ArgumentParser

/// How a waiting command shows progress.
struct ProgressOptions: ParsableArguments {
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case auto, bar, plain, json, none
    }

    @Option(help: "auto: a bar on a terminal, else lines; json: one object per line on standard error.")
    var progress: Style = .auto

    @Flag(name: .customLong("json"), help: "Print the result as JSON.")
    var json = false

    var style: ProgressStyle {
        let shown: Style = progress == .auto ? (Console.isTerminal ? .bar : .plain) : progress
        return ProgressStyle(progress: shown, jsonResult: json)
    }
}

/// The chosen form of progress and result.
struct ProgressStyle {
    let progress: ProgressOptions.Style
    let jsonResult: Bool
}
