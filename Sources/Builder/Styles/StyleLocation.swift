public import Foundation

/// The location of a style, and the values of the placeholders in its address.
public struct StyleLocation: Sendable {
    /// The address of the style for clients; may contain `{key}` and `{language}`; `nil` for a file that is not served.
    public var address: String?
    /// A file to read the style from instead of its address.
    public var file: URL?
    /// The value of `{key}`.
    ///
    /// It is a secret: it is sent only to the host of the address and is never written to a file.
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
