import Tiles

/// Boxes on the command line whose west is negative: `-1,59,25,60` looks like an option.
enum BoxArguments {
    /// The arguments with such boxes as `bbox(-1,59,25,60)`, which every command reads as the same.
    static func named(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { isBox($0) ? "bbox(\($0))" : $0 } + arguments[end...]
    }

    private static func isBox(_ argument: String) -> Bool {
        argument.hasPrefix("-") && argument.dropFirst().first?.isNumber == true
            && (try? BoundingBox(parsing: argument)) != nil
    }
}
