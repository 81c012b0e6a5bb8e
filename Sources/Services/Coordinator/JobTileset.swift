import Digests
import Files
import Foundation
import Packages
import Scheduling
import Tilesets

/// The tileset of a job: its canonical bytes, and what the coordinator needs to know of it, read once.
struct JobTileset: Sendable {
    /// As workers get it.
    let canonicalJSON: [UInt8]
    /// The digest of ``canonicalJSON``, or of a source whose address changes of what stays (`Tileset.identityJSON`).
    ///
    /// Jobs with the same tileset share fetched tiles.
    let digest: Digest
    let id: String
    /// Cut to the catalog's limit of 4,096 bytes; empty when it has none.
    let attribution: String
    /// How renderers read its tiles: `encoding` of their source; `nil` for the usual ways, and for tilesets of another version.
    let encoding: String?
    /// Width and height of its pictures in pixels; `nil` if not said.
    let tileSize: Int?
    /// The build of a source whose address changes; `nil` for others.
    let build: SourceBuild?
    /// The origin whose budget the requests use; `nil` for files, and for tilesets that no worker of this build can
    /// read.
    let origin: JobOrigin?
    /// The protocol by which the tiles are requested.
    let cut: BatchCut
    /// Why formats of packages cannot hold its tiles, by their words; none for a tileset that cannot be read.
    let refusals: [String: String]

    /// What a tileset of another version has at least.
    private struct Head: Decodable {
        let id: String
        let attribution: String?
    }

    /// - Throws: ``SubmitProblem`` `bad-request` when the bytes are not a JSON object with an id.
    init(canonicalJSON bytes: [UInt8]) throws(SubmitProblem) {
        let head: Head
        let identity: [UInt8]
        do {
            let tileset = try Tileset(canonicalJSON: bytes)
            head = Head(id: tileset.id, attribution: tileset.attribution)
            origin = JobOrigin(tileset)
            refusals = Dictionary(
                uniqueKeysWithValues: PackageFormat.allCases.compactMap { format in
                    format.refusal(of: tileset.format).map { (format.rawValue, $0) }
                })
            cut =
                tileset.source.scheme == .remotePMTiles ? .planned : tileset.source.isReadInRanges ? .ranges : .tiles
            (encoding, tileSize) = (tileset.sourceEncoding, tileset.tileSize)
            (build, identity) = (tileset.build, tileset.identityJSON)
        } catch {
            // No worker of this build can read this tileset.
            (origin, cut, refusals, encoding, tileSize) = (nil, .tiles, [:], nil, nil)
            (build, identity) = (nil, bytes)
            // Bytes without an id are refused below.
            head = (try? JSONDecoder().decode(Head.self, from: Data(bytes))) ?? Head(id: "", attribution: nil)
        }
        guard !head.id.isEmpty, head.id.utf8.count <= 255 else {
            throw SubmitProblem(
                "bad-request", "The submission's tileset is not a JSON object with an 'id' of 1 to 255 bytes.")
        }
        canonicalJSON = bytes
        digest = Digest(of: identity)
        id = head.id
        let text = head.attribution ?? ""
        attribution = text.utf8.count <= 4_096 ? text : String(text.prefix(1_000))
    }
}

extension JobOrigin {
    /// The origin whose budget a job over this tileset uses; `nil` for files.
    fileprivate init?(_ tileset: Tileset) {
        guard let name = tileset.originName else { return nil }
        self.init(
            name: name,
            limits: OriginLimits(
                perSecond: tileset.politeness.requestsPerSecond, concurrency: tileset.politeness.concurrency,
                bytesPerSecond: tileset.politeness.bytesPerSecond.map { Double($0) }))
    }
}
