import Errors
import Foundation
package import Packages
import Regions
internal import TextFormats
package import Tiles
package import Tilesets
package import Wire

/// A job before it is sent: areas, zooms and tileset, with their masks.
package struct JobDraft {
    package struct Package {
        package let area: Area
        package let mask: TileMask
    }

    package let packages: [Package]
    package let zooms: ZoomRange
    /// Of several archives those alone that its tiles can be in.
    package private(set) var tileset: Tileset
    /// The required version of the source's data for all tiles: of an archive, or the build of a tile server; `nil` = the first one
    /// that a worker reports, and for other tile servers.
    package var sourceVersion: String?
    /// The tileset file as JSON, of a source whose address changes with each build; `nil` for others.
    ///
    /// A schedule needs it, to find the newest build at each firing.
    package var following: String?
    /// The common name of its packages.
    private let title: String
    /// The formats of packages whose areas set none.
    package var formats: [PackageFormat] = [.mbtiles]
    /// The address of the style for a format that contains one; empty = none.
    package var style = ""
    /// The tiles that the origin is asked for; the others are taken from kept tiles.
    ///
    /// `nil` = all are asked for.
    package var changed: TileMask?
    /// What the submitter should know besides ``warnings``.
    package var remarks: [String] = []
    /// How the packages are published.
    package var publish = PBPublishOptions()

    /// The label of the job.
    package var label: String {
        publish.edition.isRoot ? title : "\(title) (\(publish.edition.label))"
    }

    /// Every format of any package in the order of `allCases`, with those that others are written from.
    package var allFormats: [PackageFormat] {
        let wanted = Set(
            packages.map { $0.area.formats ?? formats }.flatMap { formats in
                packs == nil ? formats + [.main(of: formats.map(\.rawValue))] : formats + [.mbtiles]
            })
        return PackageFormat.allCases.filter(wanted.contains)
    }

    /// How the packages are cut into tile packs; `nil` = no tile packs.
    package let packs: PackScheme?

    /// Makes the masks, widened to whole packs if packs are requested.
    ///
    /// A country of the size of Russia takes a second.
    package init(
        areas: [Area], zooms: ZoomRange, tileset: Tileset, label: String? = nil, packs: PackScheme? = nil
    ) throws {
        try Self.checkUnique(areas)
        title = String((label ?? areas.map(\.label).joined(separator: ", ")).prefix(150))
        packages = try areas.map { area in
            let mask = try area.mask(in: zooms)
            return Package(area: area, mask: packs?.widened(mask, zooms: zooms) ?? mask)
        }
        self.zooms = zooms
        self.tileset = tileset
        self.packs = packs
        publish.tilePacks = packs?.description ?? ""
        // A tile server may have another build by now; the first result of a worker must not decide.
        sourceVersion = tileset.build.flatMap { $0.document == nil ? nil : $0.version }
        try use(tileset)
    }

    /// Takes the tiles from a tileset.
    ///
    /// - Throws: `TilesetsError` when it consists of archives, and none of them has tiles of this area.
    package mutating func use(_ tileset: Tileset) throws {
        self.tileset = try tileset.narrowed(to: union, zooms: zooms)
    }

    /// - Throws: ``ClusterError`` `duplicate-area` naming duplicate areas.
    package static func checkUnique(_ areas: [Area]) throws {
        let twice = Dictionary(grouping: areas, by: \.id).filter { $1.count > 1 }.keys.sorted()
        guard twice.isEmpty else { throw ClusterError(.duplicateArea, "given twice: \(twice.joined(separator: ", "))") }
    }

    /// Whether it asks for more than MBTiles packages in the main edition of the main catalog.
    package var isUnusual: Bool {
        !publish.catalog.isEmpty || !publish.edition.isRoot || allFormats != [.mbtiles] || !publish.dataDate.isEmpty
            || publish.replacesTileset
    }

    /// The largest size of a file of each package in bytes; 0 = no limit.
    package var fileLimits: [UInt64] { packages.map { $0.area.maxFile ?? publish.maxFile } }

    /// The tiles of all packages, each counted once.
    package var union: TileMask {
        TileMask(union: packages.map(\.mask)) ?? TileMask(empty: zooms.max)
    }

    /// The number of tiles of all packages, counted in each package.
    package var packageTiles: UInt64 { packages.reduce(0) { $0 + $1.mask.count(in: zooms) } }

    /// The kind of its areas; `catalog` for several kinds, as on the wire.
    private var kind: String {
        let kinds = Set(packages.map(\.area.kind))
        return kinds.count == 1 ? packages[0].area.kind.rawValue : "catalog"
    }

    /// The message that submits it.
    package func request(_ options: SubmitPolicy) -> PBSubmit {
        PBSubmit.make {
            $0.requestID = options.requestID
            $0.kind = kind
            $0.label = label
            $0.tileset = Data(tileset.canonicalJSON)
            $0.zoomMin = UInt32(zooms.min)
            $0.zoomMax = UInt32(zooms.max)
            $0.tileLimit = options.tileLimit
            $0.priority = options.priority
            $0.allowedMissing = options.allowedMissing
            $0.dryRun = options.dryRun
            $0.weight = options.weight
            $0.after = options.after
            $0.packages = packages.map(Self.request)
            $0.formats = formats == [.mbtiles] ? [] : formats.map(\.rawValue)
            $0.style = style
            $0.publish = publish
            $0.sourceVersion = sourceVersion ?? ""
            $0.changed = changed.map { Data($0.encoded()) } ?? Data()
            $0.labels = options.labels
        }
    }

    private static func request(_ package: Package) -> PBPackageRequest {
        PBPackageRequest.make {
            $0.id = package.area.id
            $0.kind = package.area.kind.rawValue
            $0.mask = Data(package.mask.encoded())
            $0.names = package.area.names
            $0.formats = package.area.formats?.map(\.rawValue) ?? []
            $0.maxFile = package.area.maxFile ?? 0
            $0.nodes = package.area.nodes.map { node in
                .make {
                    $0.id = node.id
                    $0.parent = node.parentID ?? ""
                    $0.kind = node.kind.rawValue
                    $0.names = node.names
                }
            }
            $0.bounds = PBBox.make {
                $0.west = package.area.bounds.west
                $0.south = package.area.bounds.south
                $0.east = package.area.bounds.east
                $0.north = package.area.bounds.north
            }
        }
    }
}

extension PBSubmit {
    /// The submission as it is stored with a schedule.
    ///
    /// - Throws: ``ClusterError`` `too-large` when it is too large for a message.
    package var frame: [UInt8] {
        get throws { try Frame(session: 1, seq: 0, .submit(self)).bytes() }
    }
}

extension Frame {
    /// The encoded frame.
    ///
    /// - Throws: ``ClusterError`` `too-large` for a submission that is too large for a message; `WireError`.
    func bytes() throws -> [UInt8] {
        do {
            return try encoded()
        } catch {
            guard error.code == .tooLarge, case .submit(let request) = message else { throw error }
            let masks = request.packages.reduce(0) { $0 + $1.mask.count }
            throw ClusterError(
                .tooLarge,
                "the masks of \(Units.count(request.packages.count, of: "package")) have \(Units.bytes(UInt64(masks))); a submission can have"
                    + " \(Units.bytes(UInt64(MessageType.submit.maxBodyBytes))) in total",
                hint: "submit them as several jobs at the same time (jobs of one tileset still fetch each tile once),"
                    + " or use fewer zooms")
        }
    }
}

/// The options of a submission in addition to its tiles.
package struct SubmitPolicy {
    /// A request with the id of an earlier one returns the job of that one; empty = every request makes a job.
    package var requestID: String
    /// Raises the coordinator's limit of tiles for boxes when it is above it; 0 = that limit.
    package var tileLimit: UInt64 = 0
    /// Jobs of higher priority run first; below 0 = paused.
    package var priority: Int32 = 0
    /// The share of tiles that may be missing in a package, 0...1.
    package var allowedMissing: Double = usualMissing
    /// Whether the job is only planned.
    package var dryRun = false
    /// The share of the cluster among jobs of one priority, at least 1.
    package var weight: UInt32 = 1
    /// Jobs that must be done first; if one of them fails or is cancelled, this job fails.
    package var after: [UInt64] = []
    /// Only workers with all of these labels work for it.
    package var labels: [String] = []

    /// The share of tiles that may be missing where nothing else is said.
    package static let usualMissing = 0.001

    package init(
        requestID: String, tileLimit: UInt64 = 0, priority: Int32 = 0, allowedMissing: Double = usualMissing,
        dryRun: Bool = false, weight: UInt32 = 1, after: [UInt64] = [], labels: [String] = []
    ) {
        self.labels = labels
        self.requestID = requestID
        self.tileLimit = tileLimit
        self.priority = priority
        self.allowedMissing = allowedMissing
        self.dryRun = dryRun
        self.weight = weight
        self.after = after
    }
}
