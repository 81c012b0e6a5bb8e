import Digests
import Foundation
import GRDB
import Scheduling
import Tiles

/// A value that a field of a record can have.
protocol RecordValue: SendableMetatype {
    /// The value in its column; NULL = no value.
    var recorded: DatabaseValue { get }
    /// The value of a column; NULL gives the default of the type.
    ///
    /// Returns `nil` when the column contains no such value, or when the type has no default.
    init?(recorded: DatabaseValue)
}

extension FixedWidthInteger where Self: RecordValue {
    /// Numbers of 64 bits are stored by their bits, because SQLite has signed numbers only.
    var recorded: DatabaseValue { Int64(truncatingIfNeeded: self).databaseValue }
    init?(recorded: DatabaseValue) {
        guard !recorded.isNull else {
            self = 0
            return
        }
        guard let number = Int64.fromDatabaseValue(recorded) else { return nil }
        self = Self.bitWidth == 64 ? Self(truncatingIfNeeded: number) : Self(clamping: number)
    }
}

extension UInt64: RecordValue {}
extension Int64: RecordValue {}
extension Int: RecordValue {}
extension UInt32: RecordValue {}
extension Int32: RecordValue {}
extension UInt8: RecordValue {}

extension Bool: RecordValue {
    var recorded: DatabaseValue { databaseValue }
    init?(recorded: DatabaseValue) {
        guard let number = Int64(recorded: recorded) else { return nil }
        self = number != 0
    }
}

extension Double: RecordValue {
    var recorded: DatabaseValue { databaseValue }
    init?(recorded: DatabaseValue) {
        guard let number = recorded.isNull ? 0 : Double.fromDatabaseValue(recorded) else { return nil }
        self = number
    }
}

extension String: RecordValue {
    var recorded: DatabaseValue { databaseValue }
    init?(recorded: DatabaseValue) {
        guard let text = recorded.isNull ? "" : String.fromDatabaseValue(recorded) else { return nil }
        self = text
    }
}

extension Optional: RecordValue where Wrapped: RecordValue {
    var recorded: DatabaseValue { self?.recorded ?? .null }
    init?(recorded: DatabaseValue) {
        guard !recorded.isNull else {
            self = .none
            return
        }
        guard let value = Wrapped(recorded: recorded) else { return nil }
        self = .some(value)
    }
}

extension Digest: RecordValue {
    var recorded: DatabaseValue { Data(bytes).databaseValue }
    init?(recorded: DatabaseValue) {
        guard let bytes = Data.fromDatabaseValue(recorded) else { return nil }
        self.init(bytes: bytes)
    }
}

extension TileID: RecordValue {
    var recorded: DatabaseValue { hilbertID.recorded }
    init?(recorded: DatabaseValue) {
        guard !recorded.isNull, let id = UInt64(recorded: recorded) else { return nil }
        self.init(hilbertID: id)
    }
}

extension LeaseToken: RecordValue {
    var recorded: DatabaseValue { rawValue.recorded }
    init?(recorded: DatabaseValue) {
        guard let number = UInt64(recorded: recorded) else { return nil }
        self.init(number)
    }
}

extension NumberedID {
    /// The number as it is stored: by its bits, because SQLite has signed numbers only.
    var key: Int64 { Int64(bitPattern: rawValue) }

    /// The number that is stored as `key`.
    init(key: Int64) { self.init(UInt64(bitPattern: key)) }
}

extension NumberedID where Self: RecordValue {
    var recorded: DatabaseValue { key.databaseValue }
    init?(recorded: DatabaseValue) {
        guard let number = UInt64(recorded: recorded) else { return nil }
        self.init(number)
    }
}

extension JobID: RecordValue {}
extension SessionID: RecordValue {}

extension Place where Self: RecordValue {
    var recorded: DatabaseValue { number.recorded }
    init?(recorded: DatabaseValue) {
        guard let number = Int(recorded: recorded) else { return nil }
        self.init(number)
    }
}

extension BatchIndex: RecordValue {}
extension PackageIndex: RecordValue {}

/// Numbers of jobs, as a text with blanks between them.
extension [JobID]: RecordValue {
    var recorded: DatabaseValue { map(\.description).joined(separator: " ").databaseValue }
    init?(recorded: DatabaseValue) {
        guard let text = String(recorded: recorded) else { return nil }
        self = text.split(separator: " ").compactMap { UInt64($0).map(JobID.init) }
    }
}

extension RawRepresentable where Self: RecordValue, RawValue: RecordValue {
    var recorded: DatabaseValue { rawValue.recorded }
    init?(recorded: DatabaseValue) {
        guard let raw = RawValue(recorded: recorded) else { return nil }
        self.init(rawValue: raw)
    }
}

extension JobState: RecordValue {}
extension BatchState: RecordValue {}
extension PackageState: RecordValue {}
