import AreaFiles
import Catalog
import CatalogFormat
import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Packages
import Scheduling
import Tiles
import Tilesets
import Wire

/// Checks a submission and divides it into batches.
///
/// Pure, and run outside the coordinator's loop because the plan of a whole planet takes seconds.
struct SubmitPlanner: Sendable {
    /// Largest number of batches per job; each takes some 10 bytes of its plan, and a row of 64 bytes when it is tried.
    static let maxBatches = 2_000_000
    private static let kinds = ["region", "town", "bbox", "set", "catalog"] + AreaFormat.all.map(\.kind)
    /// Leaves space for a mask in the frame of an offer.
    static let maxTilesetBytes = 192 << 10

    let bboxTileLimit: UInt64

    struct Plan: Sendable {
        let spec: JobSpec
        let submission: JobSubmission
        let tiles: UInt64
        /// Possible problems for the submitter.
        var warnings: [String] = []

        /// The same plan after a check against the catalog: a job whose packages could never be published is refused.
        func checked(against catalogs: CatalogTable) throws(SubmitProblem) -> Plan {
            var plan = self
            plan.warnings = try catalogs.writer(named: spec.publish.catalog).outlook(spec)
            try StepWork.check(spec.publish, catalogs)
            return plan
        }

        /// The plan of a schedule, which was checked when the schedule was added, while its catalog exists: a coordinator that was
        /// started again may have other catalogs.
        ///
        /// - Throws: ``SubmitProblem`` `unknown-catalog`.
        func ofSchedule(in catalogs: CatalogTable) throws(SubmitProblem) -> Plan {
            _ = try catalogs.writer(named: spec.publish.catalog)
            return self
        }

        /// Warnings about other jobs that make packages of the same names from another tileset.
        ///
        /// The package that ends later could not be published.
        func conflicts(with others: [(job: JobID, spec: JobSpec)]) -> [String] {
            guard !spec.publish.replacesTileset else { return [] }
            let ids = Set(spec.packages.map(\.id))
            return others.filter {
                $0.spec.tileset.id != spec.tileset.id && $0.spec.publish.hasSamePlace(as: spec.publish)
            }
            .compactMap { other in
                guard let shared = other.spec.packages.first(where: { ids.contains($0.id) }) else { return nil }
                return
                    "Job \(other.job), which has not ended, makes package '\(shared.id)' of tileset '\(other.spec.tileset.id)', this one of '\(spec.tileset.id)': the one that ends later will be refused. Give it another id, or allow the replacement (--replace-tileset)."
            }
        }
    }

    /// - Parameter wall: Wall time from which the next run of its schedule is computed; milliseconds since 1970.
    func plan(_ body: PBSubmit, wall: Int64, due: Int64? = nil) throws(SubmitProblem) -> Plan {
        try checkForm(body)
        let spec = try JobSpec(body)
        try Self.checkTiles(spec)
        guard spec.publish.packs == nil || TilePacks.isName(spec.tileset.id) else {
            throw SubmitProblem(
                "bad-request",
                "Tileset id '\(spec.tileset.id.prefix(130))' cannot be a folder of tile packs: use 1 to 120 letters, digits and . _ - ( ) ,",
                hint: "give the tileset another id, or omit --tile-packs")
        }
        if let packs = spec.publish.packs, let zoom = packs.uncovered(spec.zooms).first {
            throw SubmitProblem(
                "bad-request",
                "None of the bands \(packs) of the tile packs contains zoom \(zoom), so its tiles would be in no pack.",
                hint: "give bands for all of the zooms \(spec.zooms), or use fewer zooms")
        }
        let planner = BatchPlanner(
            mask: spec.mask, zooms: spec.zooms, cut: spec.tileset.cut)
        try checkSize(body, tiles: planner.tiles)
        var packages: [Package] = []
        for (package, asked) in zip(spec.packages, body.packages) {
            let tiles = package.mask.count(in: spec.zooms)
            guard tiles > 0 else {
                throw SubmitProblem("bad-mask", "Package '\(package.id)' has no tiles at zooms \(spec.zooms).")
            }
            if asked.kind == "bbox" { try checkBox(body, tiles: tiles, "The box of package '\(package.id)'") }
            packages.append(Package(id: package.id, tiles: tiles))
        }
        var batches: [PlannedBatch] = []
        for batch in planner.batches() {
            guard batches.count < Self.maxBatches else {
                throw SubmitProblem(
                    "too-large", "The job has \(planner.tiles) tiles in more than \(Self.maxBatches) batches.",
                    hint: "submit smaller areas or fewer zooms")
            }
            batches.append(batch)
        }
        return Plan(
            spec: spec,
            submission: JobSubmission(
                requestID: body.requestID, priority: body.priority, weight: body.weight,
                allowedMissing: body.allowedMissing, batches: batches, packages: packages,
                payload: try Self.payload(body),
                needs: PackageNeeds(masks: spec.packages.map(\.mask), cells: batches.map(\.cell)),
                tileset: spec.tileset.digest, after: body.after.map { JobID($0) }, identity: try Self.identity(body),
                firing: body.schedule.isEmpty
                    ? nil
                    : Firing(
                        schedule: body.schedule, due: due, wall: wall, build: spec.tileset.build?.name ?? ""),
                origin: spec.tileset.origin, formats: spec.formats,
                sourceVersion: body.sourceVersion.isEmpty ? nil : body.sourceVersion,
                asksChangedOnly: spec.changed != nil, publishesTogether: spec.publish.together,
                labels: spec.labels),
            tiles: planner.tiles)
    }

    /// The plan of a submission that the catalog would take.
    func checkedPlan(_ body: PBSubmit, wall: Int64, against catalogs: CatalogTable) -> Result<Plan, SubmitProblem> {
        Result { () throws(SubmitProblem) in try plan(body, wall: wall).checked(against: catalogs) }
    }

    /// The stored form of a submission: a wire frame, so that the wire decoder reads and checks it.
    static func payload(_ body: PBSubmit) throws(SubmitProblem) -> [UInt8] {
        do {
            return try Frame(session: 1, seq: 0, .submit(body)).encoded()
        } catch {
            throw SubmitProblem("bad-request", "The submission cannot be stored: \(error)")
        }
    }

    /// The digest of everything that affects the catalog: tileset, zooms, packages, formats, style, edition and the
    /// share of missing tiles; and the labels, because a job without them would let other workers do the work.
    ///
    /// The requester, the time and the priority are not included.
    static func identity(_ body: PBSubmit) throws(SubmitProblem) -> Digest? {
        let essence = PBSubmit.make {
            $0.tileset = body.tileset
            $0.zoomMin = body.zoomMin
            $0.zoomMax = body.zoomMax
            $0.allowedMissing = body.allowedMissing
            $0.style = body.style
            $0.sourceVersion = body.sourceVersion
            $0.latest = body.latest
            $0.changed = body.changed.isEmpty ? Data() : Data(Digest(of: body.changed).bytes)
            $0.publish = body.publish.canonical
            $0.labels = Set(body.labels).sorted()
            let formats = zip(JobSpec.mains(body), JobSpec.formats(body)).map { Set($1).union([$0.rawValue]).sorted() }
            $0.packages = zip(body.packages, formats).map { package, formats in
                var package = package
                package.formats = formats
                // Masks are most of a submission: their digests stand for them, so that they are not encoded again.
                package.mask = Data(Digest(of: package.mask).bytes)
                return package
            }.sorted { $0.id < $1.id }
        }
        return Digest(of: try payload(essence))
    }

    private func checkForm(_ body: PBSubmit) throws(SubmitProblem) {
        for kind in [body.kind] + body.packages.map(\.kind).filter({ !$0.isEmpty }) {
            guard Self.kinds.contains(kind) else {
                throw SubmitProblem(
                    "bad-request",
                    "'\(kind.prefix(40))' is not a kind of job; expected \(Self.kinds.joined(separator: ", ")).")
            }
        }
        guard body.label.utf8.count <= 1_024, body.requestID.utf8.count <= 256 else {
            throw SubmitProblem("bad-request", "The label is limited to 1,024 bytes and the request id to 256.")
        }
        try Self.checkNames(body)
        if let problem = WorkerLabel.problem(in: body.labels) { throw SubmitProblem("bad-request", problem) }
        guard body.tileset.count <= Self.maxTilesetBytes else {
            throw SubmitProblem(
                "bad-request",
                "The tileset has \(body.tileset.count) bytes; at most \(Self.maxTilesetBytes) fit an offer.",
                hint: "remove vector_layers from the tileset file; they are read from the tiles")
        }
        guard body.schedule.isEmpty || body.after.isEmpty else {
            throw SubmitProblem(
                "bad-request", "A schedule's jobs cannot wait for job \(body.after[0]).",
                hint: "choose schedule times that follow one another")
        }
        try Self.checkFormats(body)
        try Self.checkStyle(body)
        guard !body.packages.isEmpty else { throw SubmitProblem("bad-package", "The submission names no package.") }
        var seen: Set<String> = []
        for package in body.packages {
            guard Self.isFileSafe(package.id) else {
                throw SubmitProblem(
                    "bad-package",
                    "'\(package.id.prefix(80))' cannot be a package id: use 1 to 100 letters, digits and -_.,(), but no dot or hyphen at the start."
                )
            }
            guard seen.insert(package.id.lowercased()).inserted else {
                let other = body.packages.first { $0.id.lowercased() == package.id.lowercased() }?.id ?? package.id
                guard other == package.id else {
                    throw SubmitProblem(
                        "bad-package",
                        "Packages '\(other)' and '\(package.id)' differ only in letter case: their files would collide on devices with case-insensitive file systems."
                    )
                }
                throw SubmitProblem("bad-package", "Package '\(package.id)' is named twice.")
            }
        }
    }

    /// Names are shown on terminals and devices: plain text, without control characters and bidirectional marks.
    private static func checkNames(_ body: PBSubmit) throws(SubmitProblem) {
        let packages = body.packages.flatMap { [$0.names] + $0.nodes.map(\.names) }
        let texts = [body.label, body.requestID] + packages.flatMap { $0.flatMap { [$0.key, $0.value] } }
        guard let text = texts.sorted().first(where: VisibleText.hasControl) else { return }
        throw SubmitProblem(
            "bad-request",
            "The name '\(VisibleText.escaped(String(text.prefix(80))))' contains control characters. A name must be plain text.",
            hint: "remove them, or rename the file that the name comes from")
    }

    /// Refuses words that are no format of packages, and what no catalog has.
    private static func checkFormats(_ body: PBSubmit) throws(SubmitProblem) {
        for word in Set(body.formats).union(body.packages.flatMap(\.formats)).sorted() {
            let format: PackageFormat
            do throws(PackagesError) { format = try PackageFormat(parsing: word) } catch {
                throw SubmitProblem("bad-format", error.message)
            }
            guard !format.isFolder else {
                throw SubmitProblem(
                    "bad-format", "Format \(format) is many files, and a catalog has one file of each format.",
                    hint:
                        "use --format zip, which has the same files in one, or write the folder where it is served: packhorse build --coordinator, or packhorse convert"
                )
            }
        }
    }

    /// Refuses formats that cannot hold the tiles, before any of them is fetched.
    private static func checkTiles(_ spec: JobSpec) throws(SubmitProblem) {
        for word in spec.allFormats {
            if let refusal = spec.tileset.refusals[word] { throw SubmitProblem("bad-format", refusal) }
        }
    }

    /// A style must be an address that workers can fetch, and a format must use it.
    private static func checkStyle(_ body: PBSubmit) throws(SubmitProblem) {
        let formats = Set(body.formats).union(body.packages.flatMap(\.formats))
        guard body.style.isEmpty else {
            guard body.style.hasPrefix("http://") || body.style.hasPrefix("https://") else {
                throw SubmitProblem(
                    "bad-style", "'\(body.style.prefix(200))' is not the address of a style.",
                    hint: "give one that begins with http:// or https:// and that every worker can reach")
            }
            do throws(TilesetsError) { _ = try SecretAddress(body.style) } catch {
                throw SubmitProblem(
                    "bad-style", error.message,
                    hint: "write {key} for the tileset's key, and ${NAME} for another secret")
            }
            guard formats.contains("maplibre") else {
                throw SubmitProblem(
                    "bad-style", "The submission names a style, but no format that contains one.",
                    hint: "add --format maplibre, or omit --style")
            }
            return
        }
        guard !formats.contains("maplibre") else {
            throw SubmitProblem(
                "bad-style", "Format maplibre needs a style.", hint: "give its address: --style https://HOST/style.json"
            )
        }
    }

    /// Package ids become file names on any file system.
    static func isFileSafe(_ id: String) -> Bool {
        let bytes = Array(id.utf8)
        guard (1...100).contains(bytes.count), bytes[0] != UInt8(ascii: "."), bytes[0] != UInt8(ascii: "-") else {
            return false
        }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.,()".utf8.contains(byte)
            }
        }
    }

    private func checkSize(_ body: PBSubmit, tiles: UInt64) throws(SubmitProblem) {
        guard tiles > 0 else { throw SubmitProblem("bad-mask", "The job has no tiles.") }
        if body.kind == "bbox" { try checkBox(body, tiles: tiles, "The box") }
    }

    private func checkBox(_ body: PBSubmit, tiles: UInt64, _ box: String) throws(SubmitProblem) {
        let limit = max(bboxTileLimit, body.tileLimit)
        guard tiles > limit else { return }
        throw SubmitProblem(
            "tile-limit", "\(box) has \(tiles) tiles; the limit is \(limit).",
            hint: "raise it with --tile-limit \(tiles), or use fewer zooms")
    }
}
