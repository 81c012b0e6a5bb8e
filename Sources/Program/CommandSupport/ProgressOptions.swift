package import ArgumentParser

/// How a waiting command shows progress.
package struct ProgressOptions: ParsableArguments {
    package enum Style: String, ExpressibleByArgument, CaseIterable {
        case auto, bar, plain, json, none
    }

    @Option(
        help:
            "auto: a bar on a terminal, else lines; json: one object per line on standard error, also for notes and warnings."
    )
    package var progress: Style = .auto

    @Flag(name: .customLong("json"), help: "Print the result as JSON.")
    package var json = false

    package init() {}

    package var style: ProgressStyle {
        let shown: Style = progress == .auto ? (Console.isTerminal ? .bar : .plain) : progress
        return ProgressStyle(progress: shown, jsonResult: json)
    }
}

/// The chosen form of progress and result.
package struct ProgressStyle {
    package let progress: ProgressOptions.Style
    package let jsonResult: Bool
}
