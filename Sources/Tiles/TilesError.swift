/// An error about a value of this module, with a stable code and a message that names found and expected values.
public struct TilesError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable, bounded name of the kind of error; safe as a metric label.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case zoom, box, geometry, mask }
        private let kind: Kind

        /// A zoom or zoom range that is not within 0...22 or not a number.
        public static let badZoom = Code(kind: .zoom)
        /// A bounding box that cannot be read or has coordinates outside the world.
        public static let badBox = Code(kind: .box)
        /// A GeoJSON text that cannot be read or has coordinates outside the world.
        public static let badGeometry = Code(kind: .geometry)
        /// A tile mask, binary or text, that cannot be decoded.
        public static let badMask = Code(kind: .mask)

        /// The kebab-case name of the code.
        public var description: String { "bad-\(kind.rawValue)" }
    }

    /// The kind of error; never changes its meaning.
    public let code: Code
    /// What failed, what was found and expected, and what to do now.
    ///
    /// For people; the wording may change.
    public let message: String

    /// Makes an error from its code and its sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
