import Styles
import Synchronization

/// One line that follows a style pack: rewritten on a terminal, every tenth of the way elsewhere.
final class StyleProgressLine: Sendable {
    private let isQuiet: Bool
    private let shown = Mutex(-1)

    init(isQuiet: Bool) { self.isQuiet = isQuiet }

    func show(_ progress: StylePackProgress) {
        guard !isQuiet else { return }
        let text =
            "\(progress.settled)/\(progress.needed) resources · \(Units.bytes(progress.bytes)) · "
            + "\(progress.kept) kept · \(progress.absent) absent"
        if Console.isTerminal { return Console.redraw(text) }
        let tenth = progress.settled * 10 / max(1, progress.needed)
        let isNew = shown.withLock { last in
            defer { last = max(last, tenth) }
            return tenth > last
        }
        if isNew { Console.note(text) }
    }

    /// Leaves the line.
    func end() {
        if !isQuiet, Console.isTerminal { Console.note("") }
    }
}
