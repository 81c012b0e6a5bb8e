import Errors
import Foundation
import GRDB
import Wire

/// What is read from the state file may be anything, because a disk can change any byte of it.
///
/// Every reader meets the damage as the same error, and the coordinator ends with it.
extension StateStore {
    /// The error for damage that an access to the file has met; `nil` for any other error.
    static func damage(_ file: URL, _ error: any Error) -> CoordinatorError? {
        switch error {
        case let error as DatabaseError
        where [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode):
            unreadable(file, error)
        case let error as CoordinatorError where error.code == .damagedState:
            // One with a hint names the file already.
            error.hint == nil ? undecodable(file, error.message, cause: error) : error
        case let error as WireError where error.code != .tooLarge: undecodable(file, error.message, cause: error)
        case let error as RowDecodingError: undecodable(file, "\(error)", cause: error)
        default: nil
        }
    }

    /// Runs an access to the file; damage that it meets is kept for the loop, for every caller.
    func noting<Value>(_ access: () throws -> Value) throws -> Value {
        do { return try access() } catch {
            guard let damage = Self.damage(file, error) else { throw error }
            keep(damage)
            throw damage
        }
    }
}

extension Row {
    /// The value of a column.
    ///
    /// GRDB's own subscript ends the process when the column has a value of another type.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`.
    func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
        guard let value = Value.fromDatabaseValue(stored(column)) else {
            throw StateStore.unreadable("a row has an invalid \(column)")
        }
        return value
    }

    /// The value of a column that may be NULL.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`.
    func optional<Value: DatabaseValueConvertible>(_ column: String) throws -> Value? {
        stored(column).isNull ? nil : try value(column)
    }

    /// What is stored in a column, for messages.
    func text(_ column: String) -> String { "\(stored(column))" }

    private func stored(_ column: String) -> DatabaseValue { (self[column] as DatabaseValue?) ?? .null }
}
