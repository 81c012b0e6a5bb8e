/// Help for a topic that is not a command: `packhorse help tileset`.
enum HelpTopic {
    case tileset

    /// The topic that a command line requests; `nil` for all other command lines.
    init?(_ arguments: [String]) {
        guard arguments == ["help", "tileset"] else { return nil }
        self = .tileset
    }

    /// The page.
    func lines(columns: Int) -> [String] {
        switch self {
        case .tileset: TilesetHelp.lines(columns: columns)
        }
    }
}
