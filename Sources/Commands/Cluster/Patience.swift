/// Waiting for a coordinator that is being started anew.
enum Patience {
    /// Asks, and while nobody answers once more each second, sixty times; says so once.
    ///
    /// - Throws: What `ask` throws then, and whatever it throws but `unavailable` and `temporary`.
    static func outlast<Answer: Sendable>(_ ask: () async throws -> Answer) async throws -> Answer {
        var waited = 0
        while true {
            do {
                return try await ask()
            } catch let error as CLIError where [.unavailable, .temporary].contains(error.status) && waited < 60 {
                let what = error.status == .unavailable ? "the coordinator does not answer" : error.message
                if waited == 0 { Console.note("\(what); waiting for it to come back") }
                waited += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
