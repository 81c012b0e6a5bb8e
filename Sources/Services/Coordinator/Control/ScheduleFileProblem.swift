import Wire

/// Why the files of a schedule cannot be used: names the file, and its line or entry.
package struct ScheduleFileProblem: Error, Sendable {
    let text: String
    /// What to do; empty = nothing is known.
    let hint: String

    package init(text: String, hint: String) { (self.text, self.hint) = (text, hint) }
}

extension SubmitProblem {
    /// The text with the remedy, for where there is one line.
    var withHint: String { hint.isEmpty ? text : "\(text); \(hint)" }
}

extension CoordinatorOptions {
    /// The same as ``current(_:)`` as a value.
    func currentResult(_ stored: PBSubmit) async -> Result<PBSubmit, SubmitProblem> {
        do throws(SubmitProblem) { return .success(try await current(stored)) } catch { return .failure(error) }
    }

    /// A stored submission with what the files say now that it follows.
    ///
    /// - Throws: ``SubmitProblem`` `bad-file`.
    func current(_ stored: PBSubmit) async throws(SubmitProblem) -> PBSubmit {
        guard stored.hasFollows else { return stored }
        switch await readFiles(stored) {
        case .success(let body): return body
        case .failure(let problem): throw SubmitProblem("bad-file", problem.text, hint: problem.hint)
        }
    }
}
