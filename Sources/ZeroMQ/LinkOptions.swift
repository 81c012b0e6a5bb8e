public import Logging

/// Limits and habits of a link; the defaults suit workers and coordinator.
public struct LinkOptions: Sendable {
    /// Whether unencrypted traffic beyond loopback is allowed.
    ///
    /// Default `false`.
    public var allowPlain = false
    /// Largest frame accepted, per bound endpoint; the last holds for the rest.
    ///
    /// Unit: bytes. A peer that sends more is disconnected by libzmq before the frame is in memory.
    public var maxFrameBytes = [256 << 10]
    /// Frames queued to one peer before it counts as unreachable.
    ///
    /// Default 256: a worker is owed at most its credit of offers and one answer for each message it sent.
    public var sendHighWater: Int32 = 256
    /// Frames libzmq queues from one peer before TCP pushes back.
    ///
    /// Default 64, or as many as fit ``receiveWindow`` but at least two.
    public var receiveHighWater: Int32 = 64
    /// Bytes of whole messages that libzmq queues from one peer, if all are as large as may be.
    ///
    /// Default 8 MiB.
    public var receiveWindow = 8 << 20
    /// Frames waiting in this process, of all peers, before the sockets are no longer read.
    ///
    /// Default 1,024.
    public var inboxFrames = 1024
    /// Bytes waiting in this process before the sockets are no longer read.
    ///
    /// Default 16 MiB.
    public var inboxBytes = 16 << 20
    /// How long closing waits for queued frames to leave.
    ///
    /// Default 0 for a router. Workers and the command line take up to 5 s.
    public var linger: Duration = .zero
    /// How long a send waits for room or, on a dealer, for a connection.
    ///
    /// Default 5 s.
    public var sendPatience: Duration = .seconds(5)
    /// The pace at which the kernel asks a silent connection whether its host is still there; after three times this it is dropped.
    ///
    /// Default 5 s; whole seconds.
    ///
    /// It only finds connections whose other end is gone without a word. TCP does it, not ZMTP: see ``Socket/configure(_:_:maxFrameBytes:)``.
    public var keepAlive: Duration = .seconds(5)
    /// Longest time a peer may take for its handshake.
    ///
    /// Default 5 s.
    public var handshake: Duration = .seconds(5)
    /// First pause before a broken connection is made again; doubled up to ``reconnectMax``.
    ///
    /// Default 250 ms.
    public var reconnectMin: Duration = .milliseconds(250)
    /// Longest pause before a broken connection is made again.
    ///
    /// Default 10 s.
    public var reconnectMax: Duration = .seconds(10)
    /// Where refused keys and dropped frames are reported, at info.
    ///
    /// Default: nowhere.
    public var logger: Logger?

    /// The defaults.
    public init() {}

    /// The frames queued from one peer of an endpoint with frames of at most `maxFrameBytes`.
    func receiveFrames(_ maxFrameBytes: Int) -> Int32 {
        min(receiveHighWater, Int32(clamping: max(2, receiveWindow / max(maxFrameBytes, 1))))
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, within 0 and a day; what libzmq's options and poll want.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 86_400 else { return 86_400_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
