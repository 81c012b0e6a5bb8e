/// From which edge the rows of tiles are counted.
public enum RowOrder: String, Sendable, Codable {
    /// From the north, as nearly all servers do.
    case xyz
    /// From the south.
    case tms
}
