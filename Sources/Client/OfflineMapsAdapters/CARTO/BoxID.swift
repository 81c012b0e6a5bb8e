internal import Tiles

/// An id of the form `bbox(west,south,east,north)`: a rectangle that the app chooses.
struct BoxID: Hashable, Sendable {
    /// The id as the app wrote it.
    let text: String
    /// The rectangle.
    let box: BoundingBox

    /// Reads an id; `nil` when it is not of this form.
    ///
    /// As in the SDK, spaces are allowed, a plus sign is not, and west must lie west of east.
    init?(_ text: String) {
        let plain = text.filter { $0 != " " }
        guard plain.hasPrefix("bbox("), plain.hasSuffix(")"), !plain.contains("+") else { return nil }
        let parts = plain.dropFirst(5).dropLast().split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.allSatisfy("0123456789.-eE".contains) ? Double($0) : nil }
        // An invalid box has no id.
        guard parts.count == 4, numbers.count == 4, numbers[0] < numbers[2], numbers[1] < numbers[3],
            let box = try? BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        else { return nil }
        self.text = text
        self.box = box
    }
}
