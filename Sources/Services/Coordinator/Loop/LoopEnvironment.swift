import Blobs
import Errors
import Foundation
import Logging
import Notifications
import Scheduling
import Telemetry
import Wire
import ZeroMQ

/// What every part of the loop uses and none of them changes: configuration, services and the clock.
struct LoopEnvironment: Sendable {
    let options: CoordinatorOptions
    let logger: Logger
    let store: StateStore
    let blobs: any ManagedBlobStore
    let catalogs: CatalogTable
    let places: CatalogPlaces
    let publishQueue = PublishQueue()
    let router: RouterLink
    /// The port where this host streams blobs, 0 = none.
    let blobPort: UInt32
    let notifications: StateNotifications
    let notifier: Notifier
    let executor = BackgroundExecutor()
    let removals = BlobRemovals()
    /// Whether another coordinator has taken over.
    let tenure: TenureWatch
    /// Automatic backups of the state; `nil` = none are made.
    var backups: StateBackups? { tenure.backups }
    /// Where snapshots for the page of metrics go; `nil` when no metrics are served.
    let board: MetricsBoard?
    private let start = ContinuousClock.now

    init(
        options: CoordinatorOptions, logger: Logger, store: StateStore, blobs: any ManagedBlobStore,
        catalogs: CatalogTable, places: CatalogPlaces, router: RouterLink, blobPort: UInt32, tenure: TenureWatch
    ) throws {
        self.options = options
        board = options.exposesMetrics ? MetricsBoard() : nil
        self.logger = logger
        self.store = store
        self.blobs = blobs
        self.catalogs = catalogs
        self.places = places
        self.router = router
        self.blobPort = blobPort
        self.tenure = tenure
        notifications = StateNotifications(store: store, catalogs: places)
        notifier = try Notifier(options.receivers, log: notifications, logger: logger)
    }

    /// Monotonic milliseconds since the start.
    var now: Tick {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Tick(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    /// Wall time for display.
    ///
    /// Milliseconds since 1970.
    var wall: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// A message as bytes, or `nil` when it does not fit a frame.
    func encode(
        _ message: Message, session: SessionID, seq: UInt64, re: UInt64 = 0,
        minor: UInt8 = WireVersion.minors.upperBound
    ) -> [UInt8]? {
        do {
            return try Frame(session: session.rawValue, seq: seq, re: re, epoch: store.epoch, minor: minor, message)
                .encoded()
        } catch {
            logger.error(
                "Message cannot be sent",
                metadata: [LogKey.message: "\(message.type)", LogKey.errorMessage: "\(error)"])
            return nil
        }
    }

    /// A message to a peer that has no session with a number of frames, or `nil` when it does not fit a frame.
    func frame(_ message: Message, to peer: PeerID, session: SessionID, re: UInt64 = 0) -> OutboundFrame? {
        encode(message, session: session, seq: 1, re: re).map { OutboundFrame(peer: peer, bytes: $0) }
    }
}
