import ArgumentParser

/// How a waiting command shows that it waits.
struct ProgressOptions: ParsableArguments {
    enum Style: String, ExpressibleByArgument, CaseIterable {
        case auto, bar, plain, json, none
    }

    @Option(help: "auto: a bar on a terminal, else lines; json: one object a line on standard error.")
    var progress: Style = .auto

    @Flag(name: .customLong("json"), help: "The result as JSON.")
    var json = false

    var style: ProgressStyle {
        let shown: Style = progress == .auto ? (Console.isTerminal ? .bar : .plain) : progress
        return ProgressStyle(progress: shown, jsonResult: json)
    }
}

/// The decided form of progress and result.
struct ProgressStyle {
    let progress: ProgressOptions.Style
    let jsonResult: Bool
}
