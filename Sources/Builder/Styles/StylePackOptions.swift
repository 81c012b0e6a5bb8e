public import StyleFormat
public import Transfer

/// How a style pack is collected.
public struct StylePackOptions: Sendable {
    /// What of the style is wanted.
    public var choice = StyleChoice()
    /// The limits for requests to the servers: concurrency, rate, user agent, headers, retries.
    ///
    /// Headers go to every host the style names; put a key into `{key}` instead. Limits of body size and the check of
    /// redirects are set by the collector.
    public var transfer = TransferOptions()
    /// The most bytes a pack may have.
    ///
    /// Default 1 GiB.
    public var maxBytes: UInt64 = 1 << 30

    /// The defaults.
    public init() {}
}

/// How far a collection is.
public struct StylePackProgress: Sendable, Hashable {
    /// Resources the style needs, itself included; 1 until the style is known.
    public var needed = 1
    /// Finished resources: fetched, kept or known to be absent.
    public var settled = 0
    /// Of these, those that existed already and have not changed.
    public var kept = 0
    /// Of these, those that the server does not have.
    public var absent = 0
    /// Body bytes that came over the network.
    public var received: UInt64 = 0
    /// Bytes the settled ones have in the pack.
    public var bytes: UInt64 = 0
}

/// What a collection made.
public struct StylePackReport: Sendable, Codable {
    /// The style's name.
    public var name: String?
    /// Resources by kind, absent ones included.
    public var kinds: [String: Int]
    /// Resources, the style included.
    public var resources: Int
    /// Of these, those that were there already.
    public var kept: Int
    /// Of these, those that the server does not have.
    public var absent: Int
    /// Bytes in the pack.
    public var bytes: UInt64
    /// Body bytes that came over the network.
    public var received: UInt64
    /// What a reader should know.
    public var notes: [String]
}
