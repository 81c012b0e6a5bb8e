import ArgumentParser

/// What a submission builds and how: the options that `submit` and `schedule add` share.
struct SubmitOptions: ParsableArguments {
    @OptionGroup var area: AreaOptions
    @OptionGroup var tiles: TilesetOptions

    @Option(help: "Allow a box of up to this many tiles (the coordinator's own limit is 5,000 unless set otherwise).")
    var tileLimit: UInt64 = 0

    @Option(help: "Jobs of higher priority go first; below 0 is paused.")
    var priority: Int32 = 0

    @Option(help: "Share of the cluster among jobs of one priority.")
    var weight: UInt32 = 1

    @Option(help: "Share of tiles, 0 to 1, that may be missing in a package; above it the job fails.")
    var allowedMissing: Double = 0.001

    func validate() throws {
        guard (0...1).contains(allowedMissing) else {
            throw ValidationError("--allowed-missing must lie between 0 and 1.")
        }
        guard weight > 0 else { throw ValidationError("--weight must be at least 1.") }
    }

    /// Reads tileset and areas, and makes the masks.
    ///
    /// - Throws: ``CLIError`` and the readers' own errors, naming the option or file at fault.
    func draft() async throws -> JobDraft {
        let tileset = try await tiles.read()
        let areas = try area.read()
        return try JobDraft(
            areas: areas, zooms: try tiles.zooms(of: tileset), tileset: tileset, label: area.label(areas))
    }

    /// What these options ask of the coordinator; the rest of a policy is the caller's.
    func policy(requestID: String = "", dryRun: Bool = false, after: [UInt64] = []) -> SubmitPolicy {
        SubmitPolicy(
            requestID: requestID, tileLimit: tileLimit, priority: priority, allowedMissing: allowedMissing,
            dryRun: dryRun, weight: weight, after: after)
    }
}
