import GRDB

extension StateStore {
    /// The name of the migration that makes the tables.
    ///
    /// A file without it was written by an unreleased build.
    static let firstMigration = "0.1.0"

    /// The schema and its migrations.
    ///
    /// A released migration is never edited.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration(firstMigration) { db in
            for tables in [ofFile, ofJobs, ofWork, ofLog] { try db.execute(sql: tables) }
        }
        migrator.registerMigration("remark of a package") { db in
            try db.execute(sql: "ALTER TABLE package ADD COLUMN remark TEXT")
        }
        migrator.registerMigration("bytes per second of an operator's limit") { db in
            try db.execute(sql: "ALTER TABLE origin_limit ADD COLUMN bytes_per_second REAL")
        }
        migrator.registerMigration("parts of packages") { db in try db.execute(sql: partsOfPackages) }
        migrator.registerMigration("firings without a new build") { db in
            try db.execute(
                sql: """
                    ALTER TABLE schedule ADD COLUMN unchanged INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE schedule ADD COLUMN unchanged_at INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("paused schedules") { db in
            try db.execute(sql: "ALTER TABLE schedule ADD COLUMN paused INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("attempts and history of schedules") { db in try db.execute(sql: firings) }
        migrator.registerMigration("steps after jobs") { db in try db.execute(sql: steps) }
        migrator.registerMigration("planned ranges") { db in
            try db.execute(sql: "ALTER TABLE batch ADD COLUMN role INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("exit codes of steps, revisions of schedules") { db in
            try db.execute(
                sql: """
                    ALTER TABLE step ADD COLUMN exit_code INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE schedule ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("blocks of archives") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN received_again INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE job ADD COLUMN not_sent INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE job ADD COLUMN block_list TEXT NOT NULL DEFAULT '';
                    ALTER TABLE batch ADD COLUMN received_again INTEGER;
                    ALTER TABLE batch ADD COLUMN not_sent INTEGER;
                    """)
        }
        return migrator
    }

    /// A step has a row when it was started.
    private static let steps = """
        CREATE TABLE step (
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, number INTEGER NOT NULL, step TEXT NOT NULL,
            state TEXT NOT NULL, attempts INTEGER NOT NULL, retry_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
            result TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
            PRIMARY KEY (job, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// The newest firings of each schedule, and the attempts of the present one.
    private static let firings = """
        ALTER TABLE schedule ADD COLUMN retry TEXT NOT NULL DEFAULT '';
        ALTER TABLE schedule ADD COLUMN recorded INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE schedule ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE schedule ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE schedule ADD COLUMN alerts INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE schedule ADD COLUMN alert TEXT NOT NULL DEFAULT '';
        ALTER TABLE schedule ADD COLUMN failed_job INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE firing (
            schedule TEXT NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, due INTEGER NOT NULL,
            started_by TEXT NOT NULL, result TEXT NOT NULL, job INTEGER NOT NULL, cause TEXT, detail TEXT,
            build TEXT NOT NULL,
            PRIMARY KEY (schedule, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX firing_job ON firing (job) WHERE job <> 0;
        """

    /// What belongs to no job.
    private static let ofFile = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('epoch', 0), ('holders', 0);

        CREATE TABLE holder (
            origin TEXT NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (origin, session)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE origin_limit (
            origin TEXT PRIMARY KEY, per_second REAL, concurrency INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE schedule (
            id TEXT PRIMARY KEY, every TEXT NOT NULL, label TEXT NOT NULL, spec BLOB NOT NULL,
            next INTEGER NOT NULL, last_job INTEGER NOT NULL, fired INTEGER NOT NULL, skipped INTEGER NOT NULL,
            cause TEXT, detail TEXT
        ) STRICT, WITHOUT ROWID;
        """

    private static let ofJobs = """
        CREATE TABLE job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            request_id TEXT NOT NULL, identity BLOB, after TEXT NOT NULL DEFAULT '',
            priority INTEGER NOT NULL, weight INTEGER NOT NULL, allowed_missing REAL NOT NULL, source_version TEXT,
            state TEXT NOT NULL, reason TEXT NOT NULL, was_paused INTEGER NOT NULL DEFAULT 0,
            tiles INTEGER NOT NULL, stored INTEGER NOT NULL, empty INTEGER NOT NULL, failed INTEGER NOT NULL,
            bytes INTEGER NOT NULL, reused INTEGER NOT NULL DEFAULT 0, not_modified INTEGER NOT NULL DEFAULT 0,
            received INTEGER NOT NULL DEFAULT 0,
            ready INTEGER NOT NULL, leased INTEGER NOT NULL, backoff INTEGER NOT NULL, done INTEGER NOT NULL,
            dead INTEGER NOT NULL, split INTEGER NOT NULL DEFAULT 0,
            spec BLOB NOT NULL,
            created INTEGER NOT NULL, started INTEGER, ended INTEGER,
            keeps INTEGER NOT NULL DEFAULT 0, released INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE UNIQUE INDEX job_request ON job (request_id) WHERE request_id <> '';

        CREATE TABLE history (
            id INTEGER PRIMARY KEY, state TEXT NOT NULL, label TEXT NOT NULL, created INTEGER NOT NULL,
            status BLOB NOT NULL
        ) STRICT;
        """

    /// Batches, packages, and what they leave.
    ///
    /// A batch has a row only when it is no longer as planned.
    private static let ofWork = """
        CREATE TABLE plan (
            job INTEGER PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE, batches BLOB NOT NULL
        ) STRICT;

        CREATE TABLE batch (
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, idx INTEGER NOT NULL,
            cell INTEGER NOT NULL, zmin INTEGER NOT NULL, zmax INTEGER NOT NULL, tiles INTEGER NOT NULL,
            state INTEGER NOT NULL, attempts INTEGER NOT NULL, losses INTEGER NOT NULL,
            token INTEGER, owner INTEGER, digest BLOB, partial BLOB,
            stored INTEGER, empty INTEGER, failed INTEGER, body_bytes INTEGER, shard_bytes INTEGER,
            reused INTEGER, not_modified INTEGER, received INTEGER, footer BLOB,
            cause TEXT, detail TEXT,
            PRIMARY KEY (job, idx)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE package (
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, idx INTEGER NOT NULL,
            id TEXT NOT NULL, tiles INTEGER NOT NULL, state INTEGER NOT NULL,
            attempts INTEGER NOT NULL, losses INTEGER NOT NULL, token INTEGER, owner INTEGER,
            manifest BLOB, digest BLOB, size INTEGER, merged_tiles INTEGER, tiles_hash TEXT,
            version INTEGER NOT NULL, path TEXT NOT NULL, cause TEXT, detail TEXT,
            PRIMARY KEY (job, idx)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE package_file (
            job INTEGER NOT NULL, idx INTEGER NOT NULL, format TEXT NOT NULL, digest BLOB NOT NULL,
            size INTEGER NOT NULL,
            PRIMARY KEY (job, idx, format),
            FOREIGN KEY (job, idx) REFERENCES package (job, idx) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE failure (
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, batch INTEGER NOT NULL,
            tile INTEGER NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
            PRIMARY KEY (job, batch, tile)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE orphan (
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, digest BLOB NOT NULL,
            PRIMARY KEY (job, digest)
        ) STRICT, WITHOUT ROWID;
        """

    /// Files of parts.
    ///
    /// Part 0 is the whole package. `first` is where the part begins on the Hilbert curve, as a tile.
    private static let partsOfPackages = """
        CREATE TABLE new_package_file (
            job INTEGER NOT NULL, idx INTEGER NOT NULL, part INTEGER NOT NULL, format TEXT NOT NULL, digest BLOB NOT NULL,
            size INTEGER NOT NULL, tiles INTEGER, tiles_hash TEXT, first INTEGER, common INTEGER,
            PRIMARY KEY (job, idx, part, format),
            FOREIGN KEY (job, idx) REFERENCES package (job, idx) ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        INSERT INTO new_package_file (job, idx, part, format, digest, size)
            SELECT job, idx, 0, format, digest, size FROM package_file;
        DROP TABLE package_file;
        ALTER TABLE new_package_file RENAME TO package_file;
        """

    private static let ofLog = """
        CREATE TABLE event (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, wall INTEGER NOT NULL, job INTEGER NOT NULL,
            kind INTEGER NOT NULL, data BLOB NOT NULL,
            -- NULL for a line without a notification
            notification INTEGER
        ) STRICT;
        CREATE INDEX event_job ON event (job);
        CREATE INDEX event_notification ON event (seq, notification) WHERE notification IS NOT NULL;

        -- the last line that each receiver of notifications has handled
        CREATE TABLE notification_receiver (
            id TEXT PRIMARY KEY, position INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
