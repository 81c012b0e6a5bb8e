internal import GRDB

/// The tables of `store.sqlite`.
enum StoreSchema {
    /// The one migration of this version; later ones follow it and never change it.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            for statement in first { try database.execute(sql: statement) }
        }
        return migrator
    }

    private static let first = [
        // kind 0: an address, 1: a key. The sequence stays when offers go.
        """
        CREATE TABLE catalog (kind INTEGER NOT NULL, name TEXT NOT NULL, sequence INTEGER, etag TEXT, checked_at REAL,
        pack_limit INTEGER, PRIMARY KEY (kind, name)) WITHOUT ROWID
        """,
        // kind 0: a package, 1: a style, whose edition is empty.
        """
        CREATE TABLE offer (kind INTEGER NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, edition_group TEXT,
        language TEXT, region TEXT, names TEXT NOT NULL, version INTEGER NOT NULL, mask BLOB, min_zoom INTEGER,
        max_zoom INTEGER, tileset TEXT, data_date TEXT, attribution TEXT, files TEXT NOT NULL, patches TEXT NOT NULL,
        packs TEXT NOT NULL, PRIMARY KEY (kind, place))
        """,
        """
        CREATE TABLE node (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, kind TEXT NOT NULL,
        names TEXT NOT NULL)
        """,
        // state 0: current, 1: previous, 2: retired.
        """
        CREATE TABLE unit (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, item TEXT NOT NULL,
        version INTEGER NOT NULL, path TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
        format TEXT NOT NULL, mask BLOB, min_zoom INTEGER, max_zoom INTEGER, tileset TEXT, template TEXT,
        data_date TEXT, attribution TEXT, expires REAL, used_at REAL, state INTEGER NOT NULL)
        """,
        "CREATE INDEX unit_item ON unit (item, state)",
        """
        CREATE TABLE region (id TEXT PRIMARY KEY, definition BLOB NOT NULL, context BLOB NOT NULL, required BLOB)
        """,
        """
        CREATE TABLE region_unit (region TEXT NOT NULL, unit INTEGER NOT NULL, PRIMARY KEY (region, unit)) WITHOUT ROWID
        """,
        "CREATE INDEX region_unit_unit ON region_unit (unit)",
        """
        CREATE TABLE task (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, item TEXT, priority INTEGER NOT NULL,
        state TEXT NOT NULL, cause TEXT, attempts INTEGER NOT NULL, part TEXT, together INTEGER, rule BLOB)
        """,
    ]
}
