import Catalog
import Digests
import Errors
import Packages
import Scheduling
import Tiles
import Tilesets
import Wire

/// The parameters of a job: a checked and decoded submission.
struct JobSpec: Sendable {
    struct Package: Sendable {
        let id: String
        /// Covers exactly the zooms down to the job's deepest zoom.
        let mask: TileMask
        let names: [String: String]
        let bounds: PBBox?
        /// The package's region and its ancestors, for regions that the embedded tree may not contain.
        let nodes: [PBRegionNode]
        /// The largest size of a file in bytes; `nil` = no limit.
        let maxFile: UInt64?
    }

    let label: String
    let kind: String
    let tileset: JobTileset
    let zooms: ZoomRange
    private(set) var packages: [Package]
    /// The share of its tiles that a package may lack.
    ///
    /// 0...1.
    let allowedMissing: Double
    /// The union of the packages' masks: the tiles that the job fetches.
    private(set) var mask: TileMask
    /// Per package, the formats besides MBTiles, ascending.
    let formats: [[String]]
    /// Per package, the format of its main file; with PMTiles there is no MBTiles file.
    let mains: [PackageFormat]
    /// The address of the style for a format that contains one; empty = none.
    let style: String
    /// How the packages are published.
    let publish: PublishOptions
    /// Only workers with all of these labels work for it; ascending.
    let labels: [String]
    /// The tiles that the origin is asked for; `nil` = all.
    private(set) var changed: TileMask?
    /// The number of tiles of ``changed``.
    let changedTiles: UInt64?

    /// Every format of any package.
    var allFormats: [String] { Set(formats.joined()).union(mains.map(\.rawValue)).sorted() }

    /// Reads a submission that was checked before it was stored.
    ///
    /// A job in a final state needs no masks.
    init(payload: [UInt8], withMasks: Bool) throws {
        let frame = try Frame(decoding: payload)
        guard case .submit(let body) = frame.message else {
            throw CoordinatorError(
                .damagedState,
                "The payload of a stored job is not a Submit message. Restore the state file from a backup.")
        }
        try self.init(body, withMasks: withMasks)
    }

    /// The same without masks, for a job that has ended: masks take most of its memory.
    var withoutMasks: JobSpec {
        var spec = self
        spec.packages = []
        spec.mask = TileMask(empty: zooms.max)
        if changed != nil { spec.changed = spec.mask }
        return spec
    }

    init(_ body: PBSubmit, withMasks: Bool = true) throws(SubmitProblem) {
        guard let zooms = ZoomRange(min: Int(body.zoomMin), max: Int(body.zoomMax)) else {
            throw SubmitProblem("bad-zoom", "The zooms \(body.zoomMin)-\(body.zoomMax) are not a range within 0-22.")
        }
        label = body.label
        allowedMissing = body.allowedMissing
        formats = Self.formats(body)
        mains = Self.mains(body)
        style = body.style
        labels = Set(body.labels).sorted()
        var publish = try PublishOptions(body.publish)
        kind = body.kind
        tileset = try JobTileset(canonicalJSON: Array(body.tileset))
        publish.dataDate = publish.dataDate ?? tileset.build?.date
        self.publish = publish
        self.zooms = zooms
        let changed = try Self.changed(body, zooms)
        (self.changed, changedTiles) = (changed, changed?.count(in: zooms))
        var packages: [Package] = []
        for package in withMasks ? body.packages : [] {
            let mask: TileMask
            do {
                mask = try TileMask(decoding: package.mask).expanded(toZoom: zooms.max).clipped(toZoom: zooms.max)
            } catch {
                throw SubmitProblem("bad-mask", "The mask of package '\(package.id)' cannot be read: \(error)")
            }
            packages.append(
                Package(
                    id: package.id, mask: mask, names: package.names, bounds: package.hasBounds ? package.bounds : nil,
                    nodes: package.nodes,
                    maxFile: try PublishOptions.maxFile(package.maxFile, body.publish) ?? publish.maxFile))
        }
        self.packages = packages
        mask = TileMask(union: packages.map(\.mask)) ?? TileMask(empty: zooms.max)
    }

    private static func changed(_ body: PBSubmit, _ zooms: ZoomRange) throws(SubmitProblem) -> TileMask? {
        guard !body.changed.isEmpty else { return nil }
        guard body.sourceVersion.isEmpty else {
            throw SubmitProblem(
                "bad-request",
                "A list of changed tiles is for tile servers, not for archives, and not for the newest build of a source.",
                hint: "omit --changed: tiles of the same version are not read again")
        }
        do {
            return try TileMask(decoding: body.changed).expanded(toZoom: zooms.max).clipped(toZoom: zooms.max)
        } catch {
            throw SubmitProblem("bad-mask", "The mask of the changed tiles cannot be read: \(error)")
        }
    }

    /// The main format of each package.
    ///
    /// Tile packs are cut from MBTiles.
    static func mains(_ body: PBSubmit) -> [PackageFormat] {
        body.packages.map { package in
            let wanted = package.formats.isEmpty ? body.formats : package.formats
            return body.publish.tilePacks.isEmpty ? .main(of: wanted) : .mbtiles
        }
    }

    /// The formats of each package besides MBTiles.
    static func formats(_ body: PBSubmit) -> [[String]] {
        body.packages.map { package in
            Set(package.formats.isEmpty ? body.formats : package.formats).subtracting(["mbtiles"]).sorted()
        }
    }

    /// The batches that each package waits for.
    func needs(of batches: [Batch]) -> PackageNeeds {
        PackageNeeds(masks: packages.map(\.mask), cells: batches.map(\.cell))
    }
}

/// Why a submission was refused.
struct SubmitProblem: Error, Sendable {
    let code: String
    let text: String
    let hint: String

    init(_ code: String, _ text: String, hint: String = "") {
        self.code = code
        self.text = text
        self.hint = hint
    }
}
