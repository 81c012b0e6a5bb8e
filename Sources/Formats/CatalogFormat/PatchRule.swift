/// When an update is worth fetching as a patch.
public enum PatchRule {
    /// How many earlier versions get a patch to a new one.
    ///
    /// Source: HERE's rule, from the two previous releases.
    public static let previousVersions = 2

    /// The formats whose files get patches.
    public static let formats: Set<String> = [CatalogEntry.mainFile.format, "pmtiles", CatalogCompanion.format]

    /// Whether a patch is small enough to be preferred over the whole file: below seven tenths of it.
    ///
    /// A patch costs a client more than its bytes: the client reads the old file, writes the new one, and needs the
    /// whole file after all if the patch fails.
    public static func pays(patch: Int64, whole: Int64) -> Bool {
        patch >= 0 && whole > 0 && Double(patch) < 0.7 * Double(whole)
    }
}
