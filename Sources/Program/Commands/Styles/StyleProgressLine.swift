internal import CommandSupport
import Styles
import Synchronization
internal import TextFormats

/// Shows the progress of a style pack: a bar on a terminal, otherwise a line for every 10 %.
final class StyleProgressLine: Sendable {
    private let isQuiet: Bool
    private let meter = ProgressMeter(.auto)
    private let shown = Mutex(-1)

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: StylePackProgress) {
        guard !isQuiet else { return }
        let bar = ProgressBar(
            "\(Units.count(progress.settled))/\(Units.count(progress.needed, of: "resource"))",
            fraction: Double(progress.settled) / Double(max(1, progress.needed)),
            facts: [
                Units.bytes(progress.bytes), "\(Units.count(progress.kept)) kept",
                "\(Units.count(progress.absent)) absent",
            ])
        if Console.isTerminal { return meter.show(bar) }
        let tenth = progress.settled * 10 / max(1, progress.needed)
        let isNew = shown.withLock { last in
            defer { last = max(last, tenth) }
            return tenth > last
        }
        if isNew { Console.note(bar.plain) }
    }

    /// Removes the progress bar.
    func end() {
        if !isQuiet { meter.end() }
    }
}
