import Synchronization

/// Shows the progress of a command in the requested way: a bar that is redrawn, or lines at growing intervals.
package final class ProgressMeter: Sendable {
    private struct State {
        var last: ContinuousClock.Instant?
        var lines = 0
    }

    private let style: ProgressOptions.Style
    private let state = Mutex(State())

    /// - Parameter style: `auto` is a bar on a terminal, else nothing.
    package init(_ style: ProgressOptions.Style) {
        self.style = style == .auto ? (Console.isTerminal ? .bar : .none) : style
    }

    /// Shows the state, unless another one was shown just before.
    ///
    /// - Parameter json: The same as a JSON object, for `--progress json`.
    package func show(_ bar: @autoclosure () -> ProgressBar, json: () -> String? = { nil }) {
        guard style != .none, isDue() else { return }
        switch style {
        case .bar: Console.draw(bar())
        case .plain, .auto: Console.note(bar().plain)
        case .json: if let line = json() { Console.noteJSON(line) }
        case .none: break
        }
    }

    /// Removes the progress bar.
    package func end() {
        if style == .bar { Console.clearBar() }
    }

    /// A bar is due five times a second.
    ///
    /// A line is due after 5 s, and then after an interval that grows by half each time, at most 60 s.
    private func isDue() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            guard let last = state.last else {
                state.last = now
                return style == .bar
            }
            var pause = 5.0
            for _ in 0..<state.lines where pause < 60 { pause *= 1.5 }
            let wanted: Duration = style == .bar ? .milliseconds(200) : .seconds(min(60, pause))
            guard last.duration(to: now) >= wanted else { return false }
            state.last = now
            state.lines += 1
            return true
        }
    }
}
