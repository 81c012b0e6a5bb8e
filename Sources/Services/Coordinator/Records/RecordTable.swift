import GRDB
import Scheduling
import Wire

/// One field of a record: a column of its table, and a field of its rows in the event log.
struct RecordField<Record: Sendable>: Sendable {
    let column: String
    /// The number in rows of the log, never reused; 0 = the field is not in the log.
    let number: UInt32
    /// Whether the field never changes after the record was inserted.
    let isFixed: Bool
    let value: @Sendable (Record) -> DatabaseValue
    /// Sets the field to its stored value; `nil` where the record has a reader of its own.
    let read: (@Sendable (inout Record, RecordReader) throws -> Void)?
    /// Sets the field in the status of a job; `nil` = it is not shown as it is.
    private(set) var show: (@Sendable (Record, inout PBJobStatus) -> Void)?

    /// A field that the record's own reader reads.
    init<Value: RecordValue>(
        _ column: String, log number: UInt32, isFixed: Bool = false, _ value: @escaping @Sendable (Record) -> Value
    ) {
        self.column = column
        self.number = number
        self.isFixed = isFixed
        self.value = { value($0).recorded }
        read = nil
    }

    /// A field that is written and read at its place in the record.
    init<Value: RecordValue>(
        _ column: String, log number: UInt32, isFixed: Bool = false,
        at path: any WritableKeyPath<Record, Value> & Sendable
    ) {
        self.column = column
        self.number = number
        self.isFixed = isFixed
        value = { $0[keyPath: path].recorded }
        read = { record, field in record[keyPath: path] = try field(column) }
    }

    /// The same, for a field that the status of a job shows as it is.
    init<Value: RecordValue>(
        _ column: String, log number: UInt32, isFixed: Bool = false,
        at path: any WritableKeyPath<Record, Value> & Sendable,
        status: any WritableKeyPath<PBJobStatus, Value> & Sendable
    ) {
        self.init(column, log: number, isFixed: isFixed, at: path)
        show = { $1[keyPath: status] = $0[keyPath: path] }
    }
}

/// The one description of a kind of record: it drives inserts, updates, reads, and the rows in the event log.
///
/// A new field is a line here and a migration, and a line in the reader of a record that has its own.
struct RecordTable<Record: Sendable>: Sendable {
    private let fields: [RecordField<Record>]
    private let changing: [RecordField<Record>]
    private let numbers: [String: UInt32]
    private let putSQL: String
    private let insertSQL: String
    private let updateSQL: String

    /// - Parameters:
    ///   - insert: The verb of an insert.
    ///   - extra: Columns that are written at an insert only and are no fields of the record.
    ///   - assignments: Further assignments of an update, with one argument each.
    ///   - key: The columns that an update selects the record by.
    init(
        _ name: String, insert: String = "INSERT OR REPLACE", extra: [String] = [], assignments: [String] = [],
        key: [String], _ fields: [RecordField<Record>]
    ) {
        self.fields = fields
        changing = fields.filter { !$0.isFixed }
        numbers = Dictionary(fields.filter { $0.number > 0 }.map { ($0.column, $0.number) }) { first, _ in first }
        func inserting(_ columns: [String]) -> String {
            "\(insert) INTO \(name) (\(columns.joined(separator: ", ")))"
                + " VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        }
        let columns = fields.map(\.column)
        putSQL = inserting(columns)
        insertSQL = inserting(columns + extra)
        updateSQL =
            "UPDATE \(name) SET \((changing.map { "\($0.column) = ?" } + assignments).joined(separator: ", "))"
            + " WHERE \(key.map { "\($0) = ?" }.joined(separator: " AND "))"
    }

    /// Inserts the record, or replaces the one with its key.
    func put(_ record: Record, _ db: Database) throws {
        try db.cachedStatement(sql: putSQL).execute(arguments: StatementArguments(values(record)))
    }

    /// Inserts the record with its extra columns.
    func insert(_ record: Record, extra: [any DatabaseValueConvertible], _ db: Database) throws {
        try db.cachedStatement(sql: insertSQL)
            .execute(arguments: StatementArguments(values(record)) + StatementArguments(extra))
    }

    /// Writes the fields that can change.
    ///
    /// - Parameter further: The arguments of the assignments, then the key.
    func update(_ record: Record, further: [(any DatabaseValueConvertible)?], _ db: Database) throws {
        try db.cachedStatement(sql: updateSQL)
            .execute(arguments: StatementArguments(changing.map { $0.value(record) }) + StatementArguments(further))
    }

    /// Sets all fields that have a place in the record.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`.
    func read(into record: inout Record, _ reader: RecordReader) throws {
        for field in fields { try field.read?(&record, reader) }
    }

    /// Sets all fields in a status that are shown as they are.
    func show(_ record: Record, in status: inout PBJobStatus) {
        for field in fields { field.show?(record, &status) }
    }

    private func values(_ record: Record) -> [DatabaseValue] { fields.map { $0.value(record) } }

    // MARK: - Event log

    /// The record as a row of the log: the fields that have a number and are neither NULL, zero nor empty.
    func logged(_ record: Record) -> PBLoggedRow {
        var row = PBLoggedRow()
        for field in fields where field.number > 0 {
            switch field.value(record).storage {
            case .int64(let number) where number != 0:
                row.integerFields.append(field.number)
                row.integers.append(UInt64(bitPattern: number))
            case .double(let number) where number != 0:
                row.realFields.append(field.number)
                row.reals.append(number)
            case .string(let text) where !text.isEmpty:
                row.textFields.append(field.number)
                row.texts.append(text)
            case .blob(let bytes) where !bytes.isEmpty:
                row.blobFields.append(field.number)
                row.blobs.append(bytes)
            case .null, .int64, .double, .string, .blob: break
            }
        }
        return row
    }

    /// Reads a row of the log.
    ///
    /// - Parameter what: Names the row in errors.
    /// - Throws: ``CoordinatorError`` `damaged-state` when a list of the row is shorter than that of its fields.
    func reader(_ row: PBLoggedRow, _ what: @escaping () -> String) throws -> RecordReader {
        guard row.integerFields.count == row.integers.count, row.realFields.count == row.reals.count,
            row.textFields.count == row.texts.count, row.blobFields.count == row.blobs.count
        else { throw StateStore.unreadable("\(what()) has fields without values") }
        return RecordReader(what) { column in
            guard let number = numbers[column] else { return .null }
            if let place = row.integerFields.firstIndex(of: number) {
                return Int64(bitPattern: row.integers[place]).databaseValue
            }
            if let place = row.textFields.firstIndex(of: number) { return row.texts[place].databaseValue }
            if let place = row.blobFields.firstIndex(of: number) { return row.blobs[place].databaseValue }
            if let place = row.realFields.firstIndex(of: number) { return row.reals[place].databaseValue }
            return .null
        }
    }
}

/// The fields of one stored record, from a row of the database or of the log.
struct RecordReader {
    private let what: () -> String
    private let column: (String) -> DatabaseValue

    /// - Parameter what: Names the record in errors.
    init(_ what: @escaping () -> String, _ column: @escaping (String) -> DatabaseValue) {
        self.what = what
        self.column = column
    }

    init(_ row: Row, _ what: @escaping () -> String) { self.init(what) { (row[$0] as DatabaseValue?) ?? .null } }

    /// The value of a column.
    ///
    /// - Throws: ``CoordinatorError`` `damaged-state`.
    func callAsFunction<Value: RecordValue>(_ name: String) throws -> Value {
        guard let value = Value(recorded: column(name)) else { throw unreadable(name) }
        return value
    }

    func unreadable(_ name: String) -> any Error { StateStore.unreadable("\(what()) has an invalid \(name)") }

    /// The trouble in `cause` and `detail`; `nil` without a cause.
    func trouble() throws -> Trouble? {
        let cause: String = try self("cause")
        return cause.isEmpty ? nil : Trouble(cause: cause, detail: try self("detail"))
    }
}
