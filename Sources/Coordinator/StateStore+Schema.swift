import GRDB

extension StateStore {
    /// The schema and its migrations.
    ///
    /// A released migration is never edited.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                    INSERT INTO meta VALUES ('epoch', 0);

                    CREATE TABLE job (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        request_id TEXT NOT NULL, priority INTEGER NOT NULL, weight INTEGER NOT NULL, allowed_missing REAL NOT NULL,
                        state TEXT NOT NULL, reason TEXT NOT NULL,
                        tiles INTEGER NOT NULL, stored INTEGER NOT NULL, empty INTEGER NOT NULL, failed INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        ready INTEGER NOT NULL, leased INTEGER NOT NULL, backoff INTEGER NOT NULL, done INTEGER NOT NULL,
                        dead INTEGER NOT NULL,
                        spec BLOB NOT NULL,
                        created INTEGER NOT NULL, ended INTEGER,
                        released INTEGER NOT NULL DEFAULT 0
                    ) STRICT;
                    CREATE UNIQUE INDEX job_request ON job (request_id) WHERE request_id <> '';

                    CREATE TABLE batch (
                        job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, idx INTEGER NOT NULL,
                        cell INTEGER NOT NULL, zmin INTEGER NOT NULL, zmax INTEGER NOT NULL, tiles INTEGER NOT NULL,
                        state INTEGER NOT NULL, attempts INTEGER NOT NULL, losses INTEGER NOT NULL,
                        token INTEGER, owner INTEGER, digest BLOB,
                        stored INTEGER, empty INTEGER, failed INTEGER, body_bytes INTEGER, shard_bytes INTEGER,
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

                    CREATE TABLE failure (
                        job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, batch INTEGER NOT NULL,
                        tile INTEGER NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
                        PRIMARY KEY (job, batch, tile)
                    ) STRICT, WITHOUT ROWID;

                    CREATE TABLE orphan (
                        job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE, digest BLOB NOT NULL,
                        PRIMARY KEY (job, digest)
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2-events") { db in
            try db.execute(
                sql: """
                    CREATE TABLE event (
                        seq INTEGER PRIMARY KEY AUTOINCREMENT, wall INTEGER NOT NULL, job INTEGER NOT NULL, kind INTEGER NOT NULL,
                        data BLOB NOT NULL
                    ) STRICT;
                    """)
        }
        migrator.registerMigration("2-jobs") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN split INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE job ADD COLUMN after TEXT NOT NULL DEFAULT '';
                    ALTER TABLE job ADD COLUMN identity BLOB;
                    ALTER TABLE job ADD COLUMN keeps INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE schedule (
                        id TEXT PRIMARY KEY, every TEXT NOT NULL, label TEXT NOT NULL, spec BLOB NOT NULL,
                        next INTEGER NOT NULL, last_job INTEGER NOT NULL, fired INTEGER NOT NULL, skipped INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2-sources") { db in
            try db.execute(
                sql: """
                    ALTER TABLE batch ADD COLUMN partial BLOB;
                    ALTER TABLE batch ADD COLUMN reused INTEGER;
                    ALTER TABLE job ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("3-baselines") { db in
            try db.execute(
                sql: """
                    ALTER TABLE batch ADD COLUMN not_modified INTEGER;
                    ALTER TABLE batch ADD COLUMN received INTEGER;
                    ALTER TABLE job ADD COLUMN not_modified INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE job ADD COLUMN received INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("3-files") { db in
            try db.execute(
                sql: """
                    CREATE TABLE package_file (
                        job INTEGER NOT NULL, idx INTEGER NOT NULL, format TEXT NOT NULL, digest BLOB NOT NULL, size INTEGER NOT NULL,
                        PRIMARY KEY (job, idx, format),
                        FOREIGN KEY (job, idx) REFERENCES package (job, idx) ON DELETE CASCADE
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("3-holders") { db in
            try db.execute(
                sql: """
                    CREATE TABLE holder (
                        origin TEXT NOT NULL, session INTEGER NOT NULL, PRIMARY KEY (origin, session)
                    ) STRICT, WITHOUT ROWID;
                    INSERT INTO meta VALUES ('holders', 0);
                    """)
        }
        migrator.registerMigration("3-footers") { db in
            try db.execute(sql: "ALTER TABLE batch ADD COLUMN footer BLOB")
        }
        migrator.registerMigration("3-rested") { db in
            // Earlier pauses were not recorded. Only the jobs that are paused now are known.
            try db.execute(
                sql:
                    "ALTER TABLE job ADD COLUMN rested INTEGER NOT NULL DEFAULT 0; UPDATE job SET rested = priority < 0"
            )
        }
        migrator.registerMigration("4-schedule-trouble") { db in
            try db.execute(
                sql: "ALTER TABLE schedule ADD COLUMN cause TEXT; ALTER TABLE schedule ADD COLUMN detail TEXT")
        }
        migrator.registerMigration("4-history") { db in
            try db.execute(
                sql: """
                    ALTER TABLE job ADD COLUMN started INTEGER;
                    CREATE TABLE history (
                        id INTEGER PRIMARY KEY, state TEXT NOT NULL, label TEXT NOT NULL, created INTEGER NOT NULL, status BLOB NOT NULL
                    ) STRICT;
                    CREATE INDEX event_job ON event (job);
                    """)
        }
        migrator.registerMigration("4-origin-limits") { db in
            try db.execute(
                sql: """
                    CREATE TABLE origin_limit (
                        origin TEXT PRIMARY KEY, per_second REAL, concurrency INTEGER
                    ) STRICT, WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4-source-version") { db in
            try db.execute(sql: "ALTER TABLE job ADD COLUMN source_version TEXT")
        }
        migrator.registerMigration("5-was-paused") { db in
            try db.execute(sql: "ALTER TABLE job RENAME COLUMN rested TO was_paused")
        }
        migrator.registerMigration("5-log-rows") { db in try rewriteLog(db) }
        return migrator
    }
}
