public import Logging

/// Limits and times of a link.
///
/// The defaults are suitable for workers and coordinator.
public struct LinkOptions: Sendable {
    /// Whether unencrypted traffic beyond loopback is allowed.
    ///
    /// Default `false`.
    public var allowPlain = false
    /// Largest accepted frame per bound endpoint.
    ///
    /// The last value is used for all further endpoints.
    ///
    /// Unit: bytes. libzmq disconnects a peer that sends more, before the frame is in memory.
    public var maxFrameBytes = [256 << 10]
    /// Number of frames queued for one peer before it counts as unreachable.
    ///
    /// Default 256: a worker gets at most as many offers as its credit, and one answer for each of its messages.
    public var sendHighWater: Int32 = 256
    /// Number of frames that libzmq queues from one peer before TCP flow control stops it.
    ///
    /// Default 64, or as many as fit ``receiveWindow``, but at least two.
    public var receiveHighWater: Int32 = 64
    /// Bytes of complete messages that libzmq queues from one peer, if all have the largest size.
    ///
    /// Default 8 MiB.
    public static let receiveWindow = 8 << 20
    /// Frames of all peers that wait in this process before the sockets are no longer read.
    ///
    /// Default 1,024.
    public var inboxFrames = 1024
    /// Bytes that wait in this process before the sockets are no longer read.
    ///
    /// Default 16 MiB.
    public var inboxBytes = 16 << 20
    /// How long closing waits until queued frames are sent.
    ///
    /// Default 0 for a router. Workers and the command line use up to 5 s.
    public var linger: Duration = .zero
    /// How long a send waits for space in the queue or, on a dealer, for a connection.
    ///
    /// Default 5 s.
    public var sendPatience: Duration = .seconds(5)
    /// Interval at which the kernel probes the host of a silent connection.
    ///
    /// After three unanswered probes the connection is dropped.
    ///
    /// Default 5 s; whole seconds.
    ///
    /// This only finds connections whose other end has disappeared without closing. TCP does it, not ZMTP: see
    /// ``Socket/configure(_:_:maxFrameBytes:)``.
    public static let keepAlive: Duration = .seconds(5)
    /// Longest time a peer may take for its handshake.
    ///
    /// Default 5 s.
    public static let handshake: Duration = .seconds(5)
    /// First pause before reconnecting.
    ///
    /// It doubles up to ``reconnectMax``.
    ///
    /// Default 250 ms.
    public var reconnectMin: Duration = .milliseconds(250)
    /// Longest pause before reconnecting.
    ///
    /// Default 10 s.
    public var reconnectMax: Duration = .seconds(10)
    /// Logger for refused keys and dropped frames, at level info.
    ///
    /// Default: none.
    public var logger: Logger?

    /// The defaults.
    public init() {}

    /// The number of frames queued from one peer of an endpoint with frames of at most `maxFrameBytes`.
    func receiveFrames(_ maxFrameBytes: Int) -> Int32 {
        min(receiveHighWater, Int32(clamping: max(2, Self.receiveWindow / max(maxFrameBytes, 1))))
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, within 0 and a day, as libzmq's options and poll expect.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < 86_400 else { return 86_400_000 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
