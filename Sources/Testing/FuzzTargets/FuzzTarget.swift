internal import Errors
internal import Foundation
internal import PMTiles
internal import Shards
internal import StyleFormat
internal import Tiles
internal import Wire
internal import ZeroMQ

/// A decoder of external bytes, in the form for a fuzzer: it takes any bytes, returns a verdict, and never traps.
///
/// The same code runs under libFuzzer (`make fuzz`) and over the kept corpus in the tests.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A frame of the wire, header and body.
    case frame
    /// A frame whose length and checksum are made to fit, so that the body decoders see every mutation.
    case body
    /// A tile mask.
    case mask
    /// A mask in CARTO's text.
    case carto
    /// A file with an area: a byte that selects its format, then the file.
    case area
    /// A shard file: header, index, footer, bodies.
    case shard
    /// A merge manifest.
    case manifest
    /// A public key file with its roles.
    case key
    /// A PMTiles file: header, metadata, directories, bodies.
    case pmtiles
    /// A plan of the ranges of an archive.
    case plan
    /// The list of the blocks of an archive: eight bytes with the bytes of all bodies, then the list.
    case blocks
    /// The rows of the metadata of an MBTiles file of another program: names and values, each ended by a zero byte.
    case metadata
    /// The metadata of a PMTiles file, in a file that is right otherwise.
    case pmtilesMetadata = "pmtiles-metadata"
    /// The header of a PMTiles file, before directories and bodies that are right.
    case pmtilesHeader = "pmtiles-header"
    /// A MapLibre style: what it needs and how it is rewritten.
    case style
    /// A style pack as a ZIP archive.
    case zip
    /// Tiles in a ZIP archive, with their `tiles.json`.
    case tree
    /// The pages of a SQLite file, whose unused bytes are zeroed.
    case gaps
    /// A body's delta: two bytes with the length of the old body, the old body, the delta.
    case delta
    /// The patch of a PMTiles archive: two bytes with the length of the old file, the old file, the patch without the SHA-256 at its end.
    case patch
    /// The patch of a file of any kind, with packed literals: the same parts.
    case sections
    /// A tile's body as an origin serves it: a byte for format and coding, then the body.
    case tile
    /// An unpacked MapLibre tile.
    case mlt
    /// A range of glyphs.
    case glyphs
    /// A document of a catalog: a byte that selects it, then the document.
    case catalog
    /// A document next to installed files: a byte that selects it, then the document.
    case unit
    /// A tile file of another program, or a part of one: a byte that selects it, then the bytes.
    case foreign
    /// The target of an HTTP request.
    case request
    /// A `Range` header, after two bytes for the size of the file.
    case ranges
    /// A token file of the gateway.
    case token
    /// What a map service answers, a tile address or a list of tiles: a byte that selects the reader, then the text.
    case service
    /// What names the newest build of a source: a byte that selects the reader, then the document.
    case build
    /// A part of a backup of the state: a byte that selects it, then the bytes.
    case backup

    /// What became of some bytes.
    public enum Verdict: Hashable, Sendable, CustomStringConvertible {
        /// Decoded; if there is only one form, encoding gave the same bytes again.
        case accepted
        /// Refused with this code.
        case refused(String)
        /// A bug: an accepted value is not the same after encoding and decoding.
        case wrong(String)

        /// "accepted", "refused bad-magic".
        public var description: String {
            switch self {
            case .accepted: "accepted"
            case .refused(let code): "refused \(code)"
            case .wrong(let what): "wrong \(what)"
            }
        }
    }

    /// Decodes `bytes` as this target's kind of data.
    public func judge(_ bytes: [UInt8]) -> Verdict {
        switch self {
        case .frame: Self.frame(bytes)
        case .body: Self.frame(Self.fitting(bytes))
        case .mask: Self.mask(bytes)
        case .carto: Self.carto(bytes)
        case .area: Self.area(bytes)
        case .shard: Self.shard(bytes)
        case .manifest: Self.manifest(bytes)
        case .key: Self.key(bytes)
        case .pmtiles: Self.pmtiles(bytes)
        case .plan: Self.plan(bytes)
        case .blocks: Self.blocks(bytes)
        case .metadata: Self.metadata(bytes)
        case .pmtilesMetadata: Self.pmtilesMetadata(bytes)
        case .pmtilesHeader: Self.pmtilesHeader(bytes)
        case .style: Self.style(bytes)
        case .zip: Self.zip(bytes)
        case .tree: Self.tree(bytes)
        case .gaps: Self.gaps(bytes)
        case .delta: Self.delta(bytes)
        case .patch: Self.patch(bytes)
        case .sections: Self.sections(bytes)
        case .tile: Self.tile(bytes)
        case .mlt: Self.mlt(bytes)
        case .glyphs: Self.glyphs(bytes)
        case .catalog: Self.catalog(bytes)
        case .unit: Self.unit(bytes)
        case .foreign: Self.foreign(bytes)
        case .request: Self.request(bytes)
        case .ranges: Self.ranges(bytes)
        case .token: Self.token(bytes)
        case .service: Self.service(bytes)
        case .build: Self.build(bytes)
        case .backup: Self.backup(bytes)
        }
    }

    private static func style(_ bytes: [UInt8]) -> Verdict {
        do {
            let style = try StyleDocument(bytes)
            let base = "http://maps.example/a/style.json"
            let needs = try StyleNeeds(style, base: base, choice: StyleChoice(ideographs: true))
            let again = try StyleNeeds(
                try StyleDocument(try style.absolute(base: base)), base: nil, choice: StyleChoice(ideographs: true))
            let isSame = needs.resources.map(\.url) == again.resources.map(\.url)
            return isSame ? .accepted : .wrong("the rewritten style needs other resources")
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func frame(_ bytes: [UInt8]) -> Verdict {
        let frame: Frame
        do {
            frame = try Frame(decoding: bytes)
        } catch {
            return .refused("\(error.code)")
        }
        do {
            let again = try frame.encoded()
            return try Frame(decoding: again).encoded() == again ? .accepted : .wrong("another frame came back")
        } catch {
            return .wrong("an accepted frame is refused when it comes back: \(error.code)")
        }
    }

    /// Type and body from the fuzzer, everything else as it must be.
    private static func fitting(_ bytes: [UInt8]) -> [UInt8] {
        guard let type = bytes.first else { return [] }
        return FrameHeader.framed(type: type, body: Array(bytes.dropFirst()))
    }

    private static func mask(_ bytes: [UInt8]) -> Verdict {
        do {
            let mask = try TileMask(decoding: bytes)
            guard mask.encoded() == bytes else { return .wrong("another mask came back") }
            _ = mask.count(in: .all)
            return .accepted
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func carto(_ bytes: [UInt8]) -> Verdict {
        do {
            let mask = try TileMask(cartoText: String(decoding: bytes, as: UTF8.self))
            return try TileMask(cartoText: mask.cartoWire) == mask ? .accepted : .wrong("another mask came back")
        } catch {
            return .refused("\(error.code)")
        }
    }

    /// Reads every body, as a merge would.
    private static func shard(_ bytes: [UInt8]) -> Verdict {
        let file = URL(filePath: "/dev/shm/packhorse-fuzz-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).shard")
        defer { unlink(file.path) }
        do {
            try Data(bytes).write(to: file)
        } catch {
            return .refused("scratch")
        }
        do {
            let reader = try ShardReader(file)
            for body in reader.bodies { _ = try reader.bytes(of: body) }
            return .accepted
        } catch {
            return .refused("\(error.code)")
        }
    }

    /// Reads every body once, as a verification would; a directory that is accepted comes back the same.
    private static func pmtiles(_ bytes: [UInt8]) -> Verdict {
        let path = "/dev/shm/packhorse-fuzz-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).pmtiles"
        defer { unlink(path) }
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            return .refused("scratch")
        }
        do {
            let file = try PMTilesFile(path: path)
            _ = try file.metadata()
            var entries: [PMTilesDirectory.Entry] = []
            try file.walk { entry in
                _ = try file.body(at: entry.offset, length: entry.length)
                entries.append(entry)
            }
            let directory = PMTilesDirectory(entries: entries)
            return PMTilesDirectory(directory.encoded) == directory ? .accepted : .wrong("another directory came back")
        } catch let error as ArchiveError {
            return .refused("\(error.code)")
        } catch {
            return .wrong("\(error)")
        }
    }

    private static func manifest(_ bytes: [UInt8]) -> Verdict {
        do {
            let manifest = try PBMergeManifest(decoding: bytes)
            let again = try manifest.encoded()
            return try PBMergeManifest(decoding: again) == manifest ? .accepted : .wrong("another manifest came back")
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func key(_ bytes: [UInt8]) -> Verdict {
        do {
            let (key, roles) = try KeyFile.parse(bytes)
            let again = try KeyFile.parse(Array("\(key)\nroles: \(roles)\n".utf8))
            return again.key == key && again.roles == roles ? .accepted : .wrong("another key came back")
        } catch {
            return .refused("\(error.code)")
        }
    }
}
