public import Foundation

/// Where a style is, and what fills the placeholders of its address.
public struct StyleLocation: Sendable {
    /// The address a client knows the style by; may hold `{key}` and `{language}`; `nil` for a file that nobody serves.
    public var address: String?
    /// A file to read the style from instead of its address.
    public var file: URL?
    /// What `{key}` stands for; a secret: it is sent to the address's own host alone and written nowhere.
    public var key: String?
    /// What `{language}` stands for.
    public var language: String?

    /// A style on a server, in a file, or in a file that is served at an address.
    public init(address: String?, file: URL? = nil, key: String? = nil, language: String? = nil) {
        self.address = address
        self.file = file
        self.key = key
        self.language = language
    }
}
