public import Foundation

/// An address of the catalog that gave something else than the publisher's bytes.
public struct RefusedAddress: Hashable, Sendable {
    /// The folder that has `catalog.json`, with a slash at its end.
    public var address: URL
    /// What it gave.
    public var reason: Reason

    /// What an address gave.
    public enum Reason: String, Hashable, Sendable {
        /// A file without the size or the digest that the list states: it is not asked again until the store is opened
        /// again.
        case wrongBytes = "wrong-bytes"
        /// A list that cannot be read, or without the signature of a trusted key: it is not asked again for an hour.
        case wrongList = "wrong-list"
        /// A list that is older than the known one: its files are still used.
        case olderList = "older-list"
    }

    /// Makes it of its parts.
    public init(address: URL, reason: Reason) { (self.address, self.reason) = (address, reason) }
}
