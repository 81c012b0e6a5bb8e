internal import TextFormats

/// A terminal line with the number of completed tiles; nothing is shown when standard error is not a terminal.
package final class TileLine {
    private let verb: String
    private let noun: String
    private let meter = ProgressMeter(.auto)

    /// - Parameters:
    ///   - verb: What is done with the tiles: "compared".
    ///   - noun: The noun for the objects.
    package init(_ verb: String, _ noun: String = "tiles") {
        self.verb = verb
        self.noun = noun
    }

    /// Shows a number; 0 means that something is being checked.
    package func show(_ tiles: UInt64) {
        meter.show(
            ProgressBar(tiles == 0 ? "checking" : "\(Units.count(tiles)) \(noun) \(verb)", fraction: nil, facts: []))
    }

    /// Removes the line.
    package func end() { meter.end() }
}
