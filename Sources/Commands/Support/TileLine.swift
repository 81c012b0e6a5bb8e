/// A line of a terminal that says how many tiles are done; nothing where standard error is no terminal.
final class TileLine {
    private let verb: String
    private let noun: String
    private let meter = ProgressMeter(.auto)

    /// - Parameters:
    ///   - verb: What is done with them: "compared".
    ///   - noun: What they are.
    init(_ verb: String, _ noun: String = "tiles") {
        self.verb = verb
        self.noun = noun
    }

    /// Shows a number; 0 says that something is being checked.
    func show(_ tiles: UInt64) {
        meter.show(
            ProgressBar(tiles == 0 ? "checking" : "\(Units.count(tiles)) \(noun) \(verb)", fraction: nil, facts: []))
    }

    /// Takes the line away.
    func end() { meter.end() }
}
