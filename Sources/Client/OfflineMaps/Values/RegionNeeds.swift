/// What a region needs, as its last plan found it; the column `required` of its row has it as JSON.
struct RegionNeeds: Codable, Hashable, Sendable {
    /// Names of the files, ascending.
    var units: [String] = []
    /// How many resources its styles have.
    var resources: UInt64 = 0
    /// What the plan could not include, for example a source of a style that is not made of tiles.
    var missing: [Missing] = []
}
