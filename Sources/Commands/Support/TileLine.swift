import Foundation

/// A line of a terminal that says how many tiles are done; nothing where standard error is no terminal.
final class TileLine {
    private let verb: String
    private let noun: String
    private let isShown = Console.isTerminal
    private var last: ContinuousClock.Instant?

    /// - Parameters:
    ///   - verb: What is done with them: "compared".
    ///   - noun: What they are.
    init(_ verb: String, _ noun: String = "tiles") {
        self.verb = verb
        self.noun = noun
    }

    /// Rewrites the line, at most five times a second; no tiles at all say that something is being checked.
    func show(_ tiles: UInt64) {
        guard isShown, last.map({ $0.duration(to: .now) > .milliseconds(200) }) ?? true else { return }
        last = .now
        Console.redraw(tiles == 0 ? "checking" : "\(Units.count(tiles)) \(noun) \(verb)")
    }

    /// Takes the line away.
    func end() {
        guard last != nil else { return }
        last = nil
        Console.redraw("")
    }
}
