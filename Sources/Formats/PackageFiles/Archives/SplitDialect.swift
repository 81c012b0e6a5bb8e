/// A dialect of MBTiles that stores each body once: a table of places names rows of a table of bodies.
struct SplitDialect {
    /// The table of places.
    let places: String
    /// The column of both tables that joins them.
    let key: String
    /// The table of bodies.
    let bodies: String

    /// planetiler's and mbutil's.
    static let all = [
        SplitDialect(places: "tiles_shallow", key: "tile_data_id", bodies: "tiles_data"),
        SplitDialect(places: "map", key: "tile_id", bodies: "images"),
    ]
}
