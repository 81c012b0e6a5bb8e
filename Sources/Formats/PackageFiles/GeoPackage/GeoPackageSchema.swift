package import GRDB
internal import TileBodies

/// The tables of a GeoPackage 1.3 with one pyramid of tiles in Web Mercator, as Packhorse writes it.
///
/// - Source: OGC 12-128r17, GeoPackage Encoding Standard 1.3, clauses 1.1, 2.2, 2.3 and annex F.3 and F.12.
package enum GeoPackageSchema {
    /// "GPKG".
    package static let applicationID = 0x4750_4B47
    /// Version 1.3.0, which readers of today know.
    package static let version = 10_300
    /// The table of the tiles; rows count from the north, so it has not the name that MBTiles readers ask for.
    package static let tiles = "map_tiles"
    /// The rows of the package's metadata, the seal first; registered as an extension that readers may pass over.
    package static let metadata = "packhorse_metadata"
    /// The same for every file: the bytes do not depend on the time.
    private static let lastChange = "1970-01-01T00:00:00.000Z"

    /// All tables but those of the tiles and of the extensions.
    private static let tables = """
        CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, \
        organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
        CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, \
        identifier TEXT UNIQUE, description TEXT DEFAULT '', \
        last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), \
        min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, \
        CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
        CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY, srs_id INTEGER NOT NULL, \
        min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL, max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL, \
        CONSTRAINT fk_gtms_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name), \
        CONSTRAINT fk_gtms_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
        CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL, \
        matrix_width INTEGER NOT NULL, matrix_height INTEGER NOT NULL, tile_width INTEGER NOT NULL, \
        tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL, pixel_y_size DOUBLE NOT NULL, \
        CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level), \
        CONSTRAINT fk_tmm_table_name FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name));
        CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, \
        definition TEXT NOT NULL, scope TEXT NOT NULL, \
        CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
        CREATE TABLE \(metadata) (name TEXT, value TEXT);
        CREATE TABLE \(tiles) (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL, \
        tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL, \
        UNIQUE (zoom_level, tile_column, tile_row));
        """

    /// The reference systems that every GeoPackage has, and Web Mercator.
    private static let systems: [(name: String, id: Int, organization: String, definition: String)] = [
        ("Undefined Cartesian SRS", -1, "NONE", "undefined"), ("Undefined geographic SRS", 0, "NONE", "undefined"),
        ("WGS 84 geodetic", 4326, "EPSG", geographic), ("WGS 84 / Pseudo-Mercator", 3857, "EPSG", mercator),
    ]
    private static let geographic = #"""
        GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],\#
        AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],\#
        UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],\#
        AUTHORITY["EPSG","4326"]]
        """#
    private static let mercator = #"""
        PROJCS["WGS 84 / Pseudo-Mercator",\#(geographic),PROJECTION["Mercator_1SP"],\#
        PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],\#
        PARAMETER["false_northing",0],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],\#
        AXIS["Northing",NORTH],EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 \#
        +k=1 +units=m +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]
        """#

    /// What a new file begins with: its marks, the empty tables, the reference systems and the row of the seal.
    package static func begin(_ database: Database) throws {
        try database.execute(
            sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version); " + tables)
        for system in systems {
            try database.execute(
                sql: "INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
                arguments: [system.name, system.id, system.organization, system.id, system.definition])
        }
        try SQLiteSeal.insert(into: metadata, database)
    }

    /// What describes the tiles, and the rows of the metadata.
    package static func finish(_ database: Database, _ grid: GeoPackageGrid, rows: [String: String]) throws {
        let texts = [rows["description"], rows["attribution"]].compactMap(\.self).filter { !$0.isEmpty }
        let (extent, edge) = (grid.extent, GeoPackageGrid.edge)
        try database.execute(
            sql: "INSERT INTO gpkg_contents VALUES (?, 'tiles', ?, ?, ?, ?, ?, ?, ?, 3857)",
            arguments: [
                tiles, rows["name"], texts.joined(separator: "\n"), lastChange, extent.west, extent.south, extent.east,
                extent.north,
            ])
        try database.execute(
            sql: "INSERT INTO gpkg_tile_matrix_set VALUES (?, 3857, ?, ?, ?, ?)",
            arguments: [tiles, -edge, -edge, edge, edge])
        for matrix in grid.matrices {
            try database.execute(
                sql: "INSERT INTO gpkg_tile_matrix VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    tiles, matrix.zoom, 1 << matrix.zoom, 1 << matrix.zoom, matrix.size.width, matrix.size.height,
                    matrix.pixel.width, matrix.pixel.height,
                ])
        }
        if grid.hasWebP {
            try database.execute(
                sql: "INSERT INTO gpkg_extensions VALUES (?, 'tile_data', 'gpkg_webp', ?, 'read-write')",
                arguments: [tiles, "http://www.geopackage.org/spec/#extension_tiles_webp"])
        }
        try database.execute(
            sql: "INSERT INTO gpkg_extensions VALUES (?, NULL, 'packhorse_seal', ?, 'write-only')",
            arguments: [
                metadata,
                "Rows of the metadata of a package by Packhorse. The first is the SHA-256 of this file, its 64 digits read as '0': a program that changes the file removes that row.",
            ])
        for row in rows.sorted(by: { $0.key < $1.key }) {
            try database.execute(sql: "INSERT INTO \(metadata) VALUES (?, ?)", arguments: [row.key, row.value])
        }
    }
}
