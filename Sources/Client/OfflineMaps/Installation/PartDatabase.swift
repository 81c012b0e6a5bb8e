internal import Foundation
internal import GRDB

/// A part file that is filled with one transaction for each resource.
enum PartDatabase {
    /// Opens the file; a missing one is made unless it is only read.
    ///
    /// - Throws: `DatabaseError`.
    static func open(_ file: URL, readonly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA synchronous = NORMAL")
        }
        return try DatabaseQueue(path: file.path, configuration: configuration)
    }
}
