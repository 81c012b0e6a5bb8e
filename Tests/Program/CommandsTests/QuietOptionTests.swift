import Commands
import Testing

/// `--quiet` before a command reads its arguments.
struct QuietOptionTests {
    @Test(arguments: [
        (["build", "EE", "--quiet"], ["build", "EE"]), (["--quiet", "build", "EE"], ["build", "EE"]),
        (["device", "install", "--quiet", "EE", "--json"], ["device", "install", "EE", "--json"]),
        (["verify", "--quiet", "--", "--quiet"], ["verify", "--", "--quiet"]), (["--quiet"], []),
    ])
    func itIsTakenFromEveryCommand(_ given: [String], _ left: [String]) {
        let taken = QuietOption.taken(from: given)
        #expect(taken.arguments == left && taken.isQuiet)
    }

    @Test(arguments: [
        ["build", "EE"], ["jobs", "--quiet"], ["style-pack", "s.json", "--quiet", "-o", "style"],
        ["verify", "--", "--quiet"], [],
    ])
    func otherArgumentsStay(_ given: [String]) {
        let taken = QuietOption.taken(from: given)
        #expect(taken.arguments == given && !taken.isQuiet)
    }
}
