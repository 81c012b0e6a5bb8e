import Errors
import Foundation
import GRDB

/// Why a state file cannot be used: which file, what is wrong with it, what to do.
extension StateStore {
    /// Refuses a file that is no state before anything is written into it.
    ///
    /// A file without any table is accepted when a new state may be created, because a coordinator may have been ended
    /// before it made its tables.
    static func requireState(_ file: URL, mayBeNew: Bool, _ db: Database) throws {
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        guard !tables.isEmpty else {
            guard !mayBeNew else { return }
            throw CoordinatorError(
                .damagedState, "The state file '\(file.path)' is empty: no coordinator has written it.",
                hint: remedy(for: file))
        }
        guard tables.contains("grdb_migrations") else {
            throw CoordinatorError(
                .damagedState,
                "The state file '\(file.path)' is damaged or belongs to another program: it has other tables than a coordinator's.",
                hint: remedy(for: file))
        }
    }

    /// Refuses a file of 0 bytes beside a catalog or backups: it had a state, which a new one would hide.
    ///
    /// A coordinator that ended before it made its tables has published nothing.
    static func refuseEmptied(_ file: URL) throws(CoordinatorError) {
        guard let size = try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int, size == 0 else {
            return
        }
        let folder = file.deletingLastPathComponent()
        let backups =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "backups").path)) ?? []
        let hasCatalog = FileManager.default.fileExists(atPath: folder.appending(path: "catalog/catalog.json").path)
        guard hasCatalog || backups.contains(where: { $0.hasSuffix(".sqlite") }) else { return }
        throw CoordinatorError(
            .damagedState,
            "The state file '\(file.path)' has 0 bytes, beside a catalog or backups: its content was lost.",
            hint: remedy(for: file))
    }

    /// The error for a file that fails its integrity check.
    ///
    /// - Parameter findings: The lines of SQLite's check.
    static func damaged(_ file: URL, _ findings: String) -> CoordinatorError {
        CoordinatorError(
            .damagedState, "The state file '\(file.path)' is damaged: it fails the integrity check of SQLite.",
            details: findings.split(whereSeparator: \.isNewline).prefix(10).map(String.init), hint: remedy(for: file))
    }

    /// The error for a file that SQLite cannot open or read.
    static func unreadable(_ file: URL, _ error: any Error) -> CoordinatorError {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            CoordinatorError(
                .dataInUse,
                "Another coordinator is using '\(file.path)'. Stop it, or give this one its own --data folder.",
                cause: error)
        case .SQLITE_FULL:
            CoordinatorError(
                .diskFull, "The state file '\(file.path)' cannot be written: its disk is full.",
                hint: "free space on the disk of '\(file.deletingLastPathComponent().path)'", cause: error)
        case .SQLITE_NOTADB:
            CoordinatorError(
                .damagedState,
                "The state file '\(file.path)' is damaged or belongs to another program: it is not a SQLite database.",
                hint: remedy(for: file), cause: error)
        case .SQLITE_CORRUPT:
            CoordinatorError(
                .damagedState, "The state file '\(file.path)' is damaged: SQLite cannot read its pages.",
                hint: remedy(for: file), cause: error)
        case .SQLITE_ERROR:
            // No such table or column: this build's statements fit the tables that it makes.
            CoordinatorError(
                .damagedState, "The state file '\(file.path)' is damaged: its tables are not those of a coordinator.",
                details: ["\(error)"], hint: remedy(for: file), cause: error)
        default:
            CoordinatorError(.cannotOpen, "The state file '\(file.path)' cannot be opened: \(error).", cause: error)
        }
    }

    /// The error for a file with a row that no coordinator wrote.
    ///
    /// - Parameter finding: Which row, and what is wrong with it.
    static func undecodable(_ file: URL, _ finding: String, cause: any Error) -> CoordinatorError {
        CoordinatorError(
            .damagedState, "The state file '\(file.path)' is damaged: one of its rows cannot be decoded.",
            details: [finding], hint: remedy(for: file), cause: cause)
    }

    private static func remedy(for file: URL) -> String {
        let folder = file.deletingLastPathComponent().path
        return
            "packhorse state check --data '\(folder)' says what is damaged; restore a backup: packhorse state restore FILE --data '\(folder)'; or move the file away to start with an empty state"
    }
}
