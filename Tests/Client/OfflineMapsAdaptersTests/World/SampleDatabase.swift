import Foundation
import GRDB
import Tiles

/// An offline database of MapLibre Native, version 6, with one region of a few tiles.
enum SampleDatabase {
    static let style = "https://db.example.com/style.json"
    static let template = "https://db.example.com/{z}/{x}/{y}.pbf"
    static let tile = TinyMap.tile(2, 1, 1)

    /// Writes the file; docs/formats/maplibre-offline.md describes the tables.
    static func write(to url: URL, data: String = "data 9") throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = DELETE; PRAGMA user_version = 6")
            try database.execute(sql: tables)
            let json =
                #"{"version":8,"sources":{"db":{"type":"vector","tiles":["\#(template)"],"maxzoom":2}},"layers":[]}"#
            try database.execute(
                sql: """
                    INSERT INTO resources (url, kind, expires, modified, data, compressed, accessed)
                    VALUES (?, 1, 4000000000, 1, ?, 0, 1)
                    """, arguments: [style, Data(json.utf8)])
            for tile in [TinyMap.tile(0, 0, 0), TinyMap.tile(1, 0, 0), Self.tile] {
                // Without the coding of HTTP: such databases hold plain tiles.
                try database.execute(
                    sql: """
                        INSERT INTO tiles (url_template, pixel_ratio, z, x, y, expires, modified, data, compressed, accessed)
                        VALUES (?, 1, ?, ?, ?, 4000000000, 1, ?, 0, 1)
                        """,
                    arguments: [template, tile.zoom, tile.x, tile.y, Data(try TinyMap.plainBody(data, tile))])
            }
            let region =
                #"{"style_url":"\#(style)","min_zoom":0.0,"max_zoom":2.0,"pixel_ratio":1.0,"bounds":[10.0,-80.0,60.0,-10.0]}"#
            try database.execute(
                sql: "INSERT INTO regions (definition, description) VALUES (?, ?)",
                arguments: [region, Data("mine".utf8)])
            try database.execute(
                sql: """
                    INSERT INTO region_resources SELECT 1, id FROM resources;
                    INSERT INTO region_tiles SELECT 1, id FROM tiles
                    """)
        }
        try queue.close()
    }

    private static let tables = """
        CREATE TABLE resources (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE,
        kind INTEGER NOT NULL, expires INTEGER, modified INTEGER, etag TEXT, data BLOB,
        compressed INTEGER NOT NULL DEFAULT 0, accessed INTEGER NOT NULL, must_revalidate INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE tiles (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, url_template TEXT NOT NULL,
        pixel_ratio INTEGER NOT NULL, z INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL, expires INTEGER,
        modified INTEGER, etag TEXT, data BLOB, compressed INTEGER NOT NULL DEFAULT 0, accessed INTEGER NOT NULL,
        must_revalidate INTEGER NOT NULL DEFAULT 0, UNIQUE (url_template, pixel_ratio, z, x, y));
        CREATE TABLE regions (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, definition TEXT NOT NULL, description BLOB);
        CREATE TABLE region_resources (region_id INTEGER NOT NULL REFERENCES regions(id) ON DELETE CASCADE,
        resource_id INTEGER NOT NULL REFERENCES resources(id), UNIQUE (region_id, resource_id));
        CREATE TABLE region_tiles (region_id INTEGER NOT NULL REFERENCES regions(id) ON DELETE CASCADE,
        tile_id INTEGER NOT NULL REFERENCES tiles(id), UNIQUE (region_id, tile_id));
        CREATE INDEX resources_accessed ON resources (accessed);
        CREATE INDEX tiles_accessed ON tiles (accessed);
        CREATE INDEX region_resources_resource_id ON region_resources (resource_id);
        CREATE INDEX region_tiles_tile_id ON region_tiles (tile_id);
        """
}
