import Errors
import Foundation
import Scheduling
import Shards
import Tiles
import Wire

/// What a job is to build: the submission, checked and understood.
struct JobSpec: Sendable {
    struct Package: Sendable {
        let id: String
        /// Down to the job's deepest zoom, neither more nor less.
        let mask: TileMask
        let names: [String: String]
        let bounds: PBBox?
        /// Its region and those above it that the embedded tree may lack.
        let nodes: [PBRegionNode]
    }

    let label: String
    let kind: String
    let tileset: [UInt8]
    let tilesetID: String
    /// Whose budget its requests draw from.
    let origin: JobOrigin?
    /// Names the tileset's bytes: jobs of one tileset share what they fetch.
    let tilesetDigest: ContentDigest?
    let zooms: ZoomRange
    let packages: [Package]
    /// Share of its tiles that a package may lack.
    ///
    /// 0...1.
    let allowedMissing: Double
    /// The union of the packages' masks: the job's work.
    let mask: TileMask
    /// Per package, the formats it is to have beside MBTiles, ascending.
    let formats: [[String]]
    /// The address of the style for a format that holds one; empty = none.
    let style: String
    /// Which catalog the packages go to.
    let edition: PBEdition

    /// How old the data is, as the submitter says.
    let dataDate: String?
    /// Whether its packages may take the place of those of another tileset.
    let replacesTileset: Bool
    /// Whether its packages may take the place of those of another area or of wider zooms.
    let replacesArea: Bool
    /// Whether its packages may have less than half of the tiles or bytes of those in the catalog.
    let allowsShrink: Bool

    /// How its packages are cut into tile packs when they are published; `nil` = they are not.
    let packs: PackScheme?

    /// Every format that some package is to have.
    var allFormats: [String] { Set(formats.joined()).sorted() }

    /// Reads a submission that was checked before it was stored; a final job needs no masks.
    init(payload: [UInt8], withMasks: Bool) throws {
        let frame = try Frame(decoding: payload)
        guard case .submit(let body) = frame.message else {
            throw CoordinatorError(
                .damagedState, "A stored job is not a submission. Restore the state file from a backup.")
        }
        try self.init(body, withMasks: withMasks)
    }

    /// The same without masks, for a job that has ended: they are most of its memory.
    var withoutMasks: JobSpec { JobSpec(of: self) }

    private init(of spec: JobSpec) {
        label = spec.label
        kind = spec.kind
        tileset = spec.tileset
        tilesetID = spec.tilesetID
        origin = spec.origin
        tilesetDigest = spec.tilesetDigest
        zooms = spec.zooms
        packages = []
        mask = TileMask(empty: spec.zooms.max)
        allowedMissing = spec.allowedMissing
        formats = spec.formats
        dataDate = spec.dataDate
        replacesTileset = spec.replacesTileset
        replacesArea = spec.replacesArea
        allowsShrink = spec.allowsShrink
        style = spec.style
        edition = spec.edition
        packs = spec.packs
    }

    init(_ body: PBSubmit, withMasks: Bool = true) throws(SubmitProblem) {
        guard let zooms = ZoomRange(min: Int(body.zoomMin), max: Int(body.zoomMax)) else {
            throw SubmitProblem("bad-zoom", "The zooms \(body.zoomMin)-\(body.zoomMax) are not a range within 0-22.")
        }
        label = body.label
        allowedMissing = body.allowedMissing
        formats = Self.formats(body)
        dataDate = body.dataDate.isEmpty ? nil : body.dataDate
        replacesTileset = body.replacesTileset
        replacesArea = body.replacesArea
        allowsShrink = body.allowShrink
        style = body.style
        edition = body.edition
        packs = try Self.packs(body)
        kind = body.kind
        tileset = Array(body.tileset)
        tilesetID = try Self.id(ofTileset: tileset)
        origin = JobOrigin(canonicalTileset: tileset)
        self.zooms = zooms
        tilesetDigest = ContentDigest(Digest(of: tileset).bytes)
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
                    nodes: package.nodes))
        }
        self.packages = packages
        mask = TileMask(union: packages.map(\.mask)) ?? TileMask(empty: zooms.max)
    }

    /// The bands of tile packs, where packs are wanted.
    private static func packs(_ body: PBSubmit) throws(SubmitProblem) -> PackScheme? {
        guard !body.tilePacks.isEmpty else { return nil }
        do throws(TilesError) {
            guard body.tilePacks.utf8.count <= 1_000 else {
                throw TilesError(.badZoom, "They have more than 1,000 bytes.")
            }
            return try PackScheme(parsing: body.tilePacks)
        } catch {
            throw SubmitProblem("bad-request", "The bands of the tile packs cannot be read: \(error.message)")
        }
    }

    /// What each package is to have beside MBTiles, which every package is anyway.
    static func formats(_ body: PBSubmit) -> [[String]] {
        body.packages.map { package in
            Set(package.formats.isEmpty ? body.formats : package.formats).subtracting(["mbtiles"]).sorted()
        }
    }

    /// Which batches each package waits for.
    func needs(of batches: [Batch]) -> PackageNeeds {
        PackageNeeds(masks: packages.map(\.mask), cells: batches.map(\.cell))
    }

    /// The tileset's attribution as far as a catalog lists it: 4,096 bytes; empty when it has none.
    var attribution: String {
        let object = try? JSONSerialization.jsonObject(with: Data(tileset))
        let text = (object as? [String: Any])?["attribution"] as? String ?? ""
        return text.utf8.count <= 4_096 ? text : String(text.prefix(1_000))
    }

    /// The `id` of a tileset's canonical JSON.
    private static func id(ofTileset bytes: [UInt8]) throws(SubmitProblem) -> String {
        let object: Any?
        do { object = try JSONSerialization.jsonObject(with: Data(bytes)) } catch { object = nil }
        guard let id = (object as? [String: Any])?["id"] as? String, !id.isEmpty, id.utf8.count <= 255 else {
            throw SubmitProblem(
                "bad-request", "The submission's tileset is not a JSON object with an 'id' of 1 to 255 bytes.")
        }
        return id
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
