internal import GRDB

/// The tables of `store.sqlite`.
enum StoreSchema {
    /// The migrations; later ones follow them and never change them.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            for statement in first { try database.execute(sql: statement) }
        }
        migrator.registerMigration("2") { database in
            // How far a task was when a process worked on it last: `TaskWork` as JSON.
            try database.execute(sql: "CREATE TABLE work (task INTEGER PRIMARY KEY, state BLOB NOT NULL) STRICT")
        }
        migrator.registerMigration("3: unusable tiles") { database in
            // Not NULL: some bodies of an adopted file are no tiles, so each is checked when it is read.
            try database.execute(sql: "ALTER TABLE installed_file ADD COLUMN has_unusable INTEGER")
        }
        migrator.registerMigration("4: parts of packages") { database in
            // The package, the number and the count of an offer that is a part; NULL for a whole package.
            try database.execute(
                sql: """
                    ALTER TABLE offer ADD COLUMN part_of TEXT;
                    ALTER TABLE offer ADD COLUMN part INTEGER;
                    ALTER TABLE offer ADD COLUMN parts INTEGER
                    """)
        }
        migrator.registerMigration("5: companions") { database in
            // kind 2 of an offer is a companion: its kind, extension and engine. NULL for other offers.
            try database.execute(
                sql: """
                    ALTER TABLE offer ADD COLUMN companion TEXT;
                    ALTER TABLE installed_file ADD COLUMN engine TEXT
                    """)
        }
        migrator.registerMigration("6: mirrors, the publisher's documents") { database in
            // mirrors: base addresses of other servers with the files of this catalog; NULL for a key.
            // document: `list` and `signature` of the catalog whose offers are in the rows, as their publisher wrote them.
            try database.execute(
                sql: """
                    ALTER TABLE catalog ADD COLUMN mirrors TEXT;
                    CREATE TABLE document (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT
                    """)
        }
        return migrator
    }

    /// The tables of the first version.
    ///
    /// Columns of primary keys come first: otherwise `quick_check` of SQLite 3.40.1 takes sound tables WITHOUT ROWID for
    /// damaged. All tables are STRICT: then `quick_check` finds values of another type, too.
    private static let first = [
        // kind 0: an address, 1: a key. The sequence stays when offers go.
        """
        CREATE TABLE catalog (kind INTEGER NOT NULL, name TEXT NOT NULL, sequence INTEGER, etag TEXT, checked_at REAL,
        pack_limit INTEGER, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID
        """,
        // kind 0: a package, 1: a style, whose edition is empty.
        """
        CREATE TABLE offer (kind INTEGER NOT NULL, place INTEGER NOT NULL, id TEXT NOT NULL, edition_group TEXT,
        language TEXT, region TEXT, names TEXT NOT NULL, version INTEGER NOT NULL, mask BLOB, min_zoom INTEGER,
        max_zoom INTEGER, tileset TEXT, data_date TEXT, attribution TEXT, files TEXT NOT NULL, patches TEXT NOT NULL,
        packs TEXT NOT NULL, PRIMARY KEY (kind, place)) STRICT
        """,
        """
        CREATE TABLE node (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, kind TEXT NOT NULL,
        names TEXT NOT NULL) STRICT
        """,
        // The columns of `InstalledFile`. key and is_pack name what readers get one version of; state 0: current, 1:
        // previous, 2: missing.
        """
        CREATE TABLE installed_file (key TEXT NOT NULL, version INTEGER NOT NULL, sha256 TEXT NOT NULL,
        is_pack INTEGER NOT NULL, item TEXT NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL, format TEXT NOT NULL,
        mask BLOB, min_zoom INTEGER, max_zoom INTEGER, tileset TEXT, template TEXT, data_date TEXT, attribution TEXT,
        expires INTEGER, used_at INTEGER NOT NULL, installed INTEGER NOT NULL, state INTEGER NOT NULL,
        PRIMARY KEY (key, version, sha256)) STRICT, WITHOUT ROWID
        """,
        // Which item needs which file.
        """
        CREATE TABLE hold (key TEXT NOT NULL, item TEXT NOT NULL, is_pack INTEGER NOT NULL, PRIMARY KEY (key, item))
        STRICT, WITHOUT ROWID
        """,
        // required: what the last plan of the region found, as JSON.
        """
        CREATE TABLE region (id TEXT PRIMARY KEY, definition BLOB NOT NULL, context BLOB NOT NULL, required BLOB) STRICT
        """,
        """
        CREATE TABLE task (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, priority INTEGER NOT NULL, record BLOB NOT NULL)
        STRICT
        """,
        // How the last tasks ended, for processes that only read.
        "CREATE TABLE ended (id INTEGER PRIMARY KEY, state BLOB NOT NULL) STRICT",
        // Single tiles that an item added.
        "CREATE TABLE tiles (item TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
        // What a process that only reads asks of the process that works.
        """
        CREATE TABLE request (id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL, answer BLOB, asked_at REAL NOT NULL)
        STRICT
        """,
    ]
}
