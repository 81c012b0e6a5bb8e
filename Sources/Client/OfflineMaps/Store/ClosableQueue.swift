internal import Foundation
internal import GRDB
internal import Synchronization

/// A connection to a database that one thread can close while others use it.
///
/// GRDB ends the process when a connection is used that has been closed. Here such a call throws ``Closed``.
final class ClosableQueue: Sendable {
    /// The connection was closed before the call.
    struct Closed: Error {}

    private let queue: DatabaseQueue
    /// Held by each call; the connection does one thing at a time anyway.
    private let lock = NSLock()
    /// Read and changed under the lock.
    private let isClosed = Atomic<Bool>(false)

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// Reads in one transaction.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result { try use { try $0.read(body) } }

    /// Changes in one transaction.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result { try use { try $0.write(body) } }

    /// Does what cannot be done in a transaction.
    func writeWithoutTransaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try use { try $0.writeWithoutTransaction(body) }
    }

    /// Closes the connection when the calls that have begun are done; a second call does nothing.
    func close() throws {
        try lock.withLock {
            guard !isClosed.exchange(true, ordering: .relaxed) else { return }
            try queue.close()
        }
    }

    private func use<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try lock.withLock {
            guard !isClosed.load(ordering: .relaxed) else { throw Closed() }
            return try body(queue)
        }
    }
}
