extension MessageType {
    /// Largest frame on a work socket, header included.
    ///
    /// Unit: bytes. Offers carry a tileset, commits a failure list.
    public static let maxWorkFrame = 256 << 10
    /// Largest frame on a control socket, header included.
    ///
    /// Unit: bytes. Submissions carry a mask per package.
    public static let maxControlFrame = 4 << 20
    /// Largest frame on a blob socket, header included.
    ///
    /// Unit: bytes. One chunk of at most ``maxChunkBytes``.
    public static let maxBlobFrame = (1 << 20) + (4 << 10)
    /// Most bytes of a blob in one chunk.
    public static let maxChunkBytes = 1 << 20
    /// Largest tileset description in a submission.
    ///
    /// Unit: bytes. Every offer contains it together with its mask, and must fit a work frame.
    public static let maxTilesetBytes = 128 << 10
    /// Largest number of formats of a package in addition to MBTiles, and of formats in a worker's hello.
    public static let maxFormats = 32
}

/// The role that a key needs to send a message.
public enum MessageRole: Hashable, Sendable {
    /// Worker or merger.
    case worker
    /// Operator or viewer.
    case viewer
    /// Operator.
    case `operator`
    /// Every key may send it.
    case any
    /// Only a coordinator sends it, so a coordinator refuses it from every key.
    case coordinator
}
