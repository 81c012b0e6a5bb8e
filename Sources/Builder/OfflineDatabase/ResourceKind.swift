internal import StyleFormat

/// The client's numbers for kinds of resources.
///
/// - Source: MapLibre Native's offline code, schema version 6
enum ResourceKind {
    static func number(_ kind: StyleResource.Kind) -> Int {
        switch kind {
        case .style: 1
        case .source, .data: 2
        case .glyphs: 4
        case .spriteImage: 5
        case .spriteJSON: 6
        case .image: 7
        }
    }

    /// Kinds a row of `resources` may have: all but tiles (3) and unknown ones (0).
    static let known: Set<Int64> = [1, 2, 4, 5, 6, 7]
}
