import Packages

/// Shows how far a conversion is; the number of tiles is not known before its end.
struct ConvertProgress {
    private let format: PackageFormat
    private let style: ProgressOptions.Style
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private var isDrawn = false

    init(_ format: PackageFormat, _ style: ProgressOptions.Style) {
        self.format = format
        self.style = style
        start = clock.now
        last = start
    }

    /// Takes the number of tiles written so far; 0 while the source is still being looked at.
    mutating func show(_ tiles: UInt64) {
        let now = clock.now
        guard last.duration(to: now) >= (style == .bar ? .milliseconds(200) : .seconds(5)) else { return }
        last = now
        let seconds = start.duration(to: now) / .seconds(1)
        let line =
            "\(format): "
            + (tiles == 0
                ? "reading" : "\(Units.count(tiles)) tiles, \(Units.count(UInt64(Double(tiles) / seconds))) a second")
        switch style {
        case .bar:
            Console.redraw(line)
            isDrawn = true
        case .plain, .auto: Console.note(line)
        case .json: Console.note(#"{"format":"\#(format)","tiles":\#(tiles)}"#)
        case .none: break
        }
    }

    /// Clears the terminal's line.
    func end() { if isDrawn { Console.redraw("") } }
}
