public import CatalogFormat
public import Errors

/// What follows when all packages of a job are in the catalog, as a submission names it: `push=/srv/www`, `prune=3`,
/// `verify`, `promote=live`.
///
/// A step is about the catalog of the job, and after a promotion about the catalog that was promoted into.
public enum CatalogStep: Hashable, Sendable, CustomStringConvertible {
    /// Copy the catalog into this folder or prefix of a bucket.
    case push(String)
    /// Keep this many versions of each package.
    case prune(keep: Int)
    /// Check every byte of the catalog.
    case verify
    /// Publish the packages of the job in the catalog of this name.
    case promote(into: String)

    /// The kinds of steps, one row each.
    public struct Kind: Sendable {
        /// The word of the step.
        public let word: String
        /// The name of its value; `nil` = it has none.
        public let value: String?
        /// What it does; for help.
        public let meaning: String
        /// Makes the step of its value; `nil` for a value that it cannot have.
        let make: @Sendable (String) -> CatalogStep?
        /// What the value must be; for errors.
        let expected: String

        /// How it is written: `push=LOCATION`.
        public var form: String { value.map { "\(word)=\($0)" } ?? word }
    }

    /// Steps that a job can have.
    public static let most = 16

    /// Every kind.
    public static let kinds = [
        Kind(
            word: "push", value: "LOCATION", meaning: "copies the catalog into a folder or s3://bucket/prefix",
            make: { $0.isEmpty || $0.utf8.count > 1_024 ? nil : .push($0) },
            expected: "needs a folder or s3://bucket/prefix, such as push=/srv/www"),
        Kind(
            word: "prune", value: "N", meaning: "keeps N versions of each package",
            make: { text in Int(text).flatMap { $0 >= 1 && $0 <= 1_000 ? .prune(keep: $0) : nil } },
            expected: "needs the number of versions to keep, from 1 to 1000, such as prune=3"),
        Kind(
            word: "verify", value: nil, meaning: "checks every byte of the catalog", make: { _ in .verify },
            expected: "has no value"),
        Kind(
            word: "promote", value: "NAME", meaning: "publishes the packages of the job in the catalog NAME",
            make: {
                PublishOptions.isCatalogName($0) || $0 == PublishOptions.mainCatalog ? .promote(into: $0) : nil
            },
            expected: "needs the name of a catalog, such as promote=live"),
    ]

    /// Reads a step.
    ///
    /// - Throws: `bad-request` for a word that is no step, and for a value that it cannot have.
    public init(parsing text: String) throws(CatalogError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let word = parts.first ?? ""
        guard let kind = Self.kinds.first(where: { $0.word == word }) else {
            throw CatalogError(
                .badRequest, "'\(text.prefix(80))' is not a step after a job.",
                hint: "the steps are \(Self.kinds.map(\.form).joined(separator: ", "))")
        }
        guard (kind.value == nil) == (parts.count == 1), let step = kind.make(parts.count > 1 ? parts[1] : "") else {
            throw CatalogError(.badRequest, "Step '\(text.prefix(200))': \(word) \(kind.expected).")
        }
        self = step
    }

    /// As it is written in a submission.
    public var description: String {
        switch self {
        case .push(let place): "push=\(place)"
        case .prune(let keep): "prune=\(keep)"
        case .verify: "verify"
        case .promote(let name): "promote=\(name)"
        }
    }
}
