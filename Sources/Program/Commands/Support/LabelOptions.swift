import ArgumentParser
import Wire

/// The labels of a job, of `submit`, `schedule add` and `schedule edit`.
///
/// `build` has none: it starts its own workers.
struct LabelOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only workers with this label (worker --label) work for the job, which waits for one; may be repeated, then they need all of them.",
            valueName: "label"))
    var on: [String] = []

    func validate() throws { try Self.check(on, option: "--on") }

    /// Refuses what is not a label, and too many.
    static func check(_ labels: [String], option: String) throws {
        guard labels.count <= WorkerLabel.most else {
            throw ValidationError(
                "\(option) is given \(labels.count) times; at most \(WorkerLabel.most) labels are allowed.")
        }
        if let problem = WorkerLabel.problem(in: labels) { throw ValidationError("\(option): \(problem)") }
    }
}
