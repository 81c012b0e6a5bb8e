/// What must be true of the object of a name when another one is put there.
public enum PutCondition: Sendable, Hashable {
    /// The object does not exist (`If-None-Match: *`).
    case absent
    /// It is the one that was read with this entity tag (`If-Match`).
    case unchanged(String)
}

/// How a put with a condition ended.
public enum PutResult: Sendable, Hashable {
    /// The object is stored; its entity tag, where the server says it.
    case stored(tag: String?)
    /// The condition was false, perhaps because an earlier attempt of the same put had come through: nothing is changed.
    case refused
}

/// Which conditions a server compares before it stores an object; others it ignores or refuses.
public struct PutComparisons: Sendable, Hashable {
    /// Whether it compares ``PutCondition/absent``.
    public let absent: Bool
    /// Whether it compares ``PutCondition/unchanged(_:)``.
    public let unchanged: Bool

    /// A server that compares these.
    public init(absent: Bool, unchanged: Bool) {
        (self.absent, self.unchanged) = (absent, unchanged)
    }

    /// A server that stores everything that it gets.
    public static let none = PutComparisons(absent: false, unchanged: false)

    /// The condition that finds another writer since an object was read, as far as the server compares it.
    ///
    /// - Parameter object: The object as it was read; `nil` = there was none.
    public func condition(over object: StoredObject?) -> PutCondition? {
        guard let object else { return absent ? .absent : nil }
        return unchanged ? object.tag.map(PutCondition.unchanged) : nil
    }
}

/// A small object as it was read.
public struct StoredObject: Sendable, Hashable {
    /// Its bytes.
    public let bytes: [UInt8]
    /// Its entity tag with the quotes; `nil` where it has none that identifies the bytes.
    public let tag: String?

    /// An object with these bytes.
    public init(_ bytes: [UInt8], tag: String? = nil) {
        self.bytes = bytes
        self.tag = tag
    }
}
