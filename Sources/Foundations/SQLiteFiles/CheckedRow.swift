package import GRDB

/// The values of a row, of which a value of another type is an error.
///
/// The subscripts of `Row` end the process there, and a damaged file can have any value in any column.
package struct CheckedRow {
    @usableFromInline let row: Row

    /// Reads the values of a row while the row is valid: until the cursor's next row.
    package init(_ row: Row) { self.row = row }

    /// The value of a column by its name; `nil` for NULL where the type is optional.
    ///
    /// - Throws: `RowDecodingError` for NULL and for a value of another type.
    @inlinable package func callAsFunction<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
        try row.decode(forColumn: column)
    }

    /// The value of a column by its place, from 0; `nil` for NULL where the type is optional.
    ///
    /// - Throws: `RowDecodingError` for NULL and for a value of another type.
    @inlinable package func callAsFunction<Value: DatabaseValueConvertible>(_ place: Int) throws -> Value {
        try row.decode(atIndex: place)
    }
}
