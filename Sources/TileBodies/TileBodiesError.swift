/// Why a tile body was refused.
public struct TileBodiesError: Error, Sendable, CustomStringConvertible {
    /// A stable kebab-case reason, safe as a metric label and in a job's report.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case emptyBody = "empty-body"
            case htmlPage = "html-page"
            case wrongType = "wrong-type"
            case truncated
            case tooLarge = "too-large"
            case badCoding = "bad-coding"
            case badMVT = "bad-mvt"
            case badPNG = "bad-png"
            case badJPEG = "bad-jpeg"
            case badWebP = "bad-webp"
            case badGlyphs = "bad-glyphs"
            case badDelta = "bad-delta"
        }

        private let value: Value

        /// The body has no bytes: record the tile as empty.
        public static let emptyBody = Code(value: .emptyBody)
        /// An HTML page, usually an error page sent with status 200.
        public static let htmlPage = Code(value: .htmlPage)
        /// A whole body of another type than the tileset declares.
        public static let wrongType = Code(value: .wrongType)
        /// The body ends before it says it does.
        public static let truncated = Code(value: .truncated)
        /// The body, or what it unpacks to, is larger than the limit.
        public static let tooLarge = Code(value: .tooLarge)
        /// A packed stream (gzip, deflate, brotli, zstd) that is truncated, damaged, or followed by other bytes.
        public static let badCoding = Code(value: .badCoding)
        /// Breaks the rules of a vector tile.
        public static let badMVT = Code(value: .badMVT)
        /// Breaks the rules of PNG, its checksums included.
        public static let badPNG = Code(value: .badPNG)
        /// Breaks the rules of JPEG.
        public static let badJPEG = Code(value: .badJPEG)
        /// Breaks the rules of WebP.
        public static let badWebP = Code(value: .badWebP)
        /// Breaks the rules of a range of glyphs.
        public static let badGlyphs = Code(value: .badGlyphs)

        /// A delta that is damaged, or was made for another body.
        public static let badDelta = Code(value: .badDelta)

        /// The kebab-case word.
        public var description: String { value.rawValue }
    }

    /// The stable reason.
    public let code: Code
    /// What was found and what was expected; for people, may change.
    public let message: String

    /// `code: message`.
    public var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
