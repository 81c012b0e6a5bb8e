extension PackageFile {
    /// The `agg_tiles_hash` of the pack's tiles.
    package func hash() throws -> String {
        var hash = TilesHash()
        var rows = try tiles()
        while let row = try rows.next() { hash.add(row) }
        return hash.finish()
    }
}
