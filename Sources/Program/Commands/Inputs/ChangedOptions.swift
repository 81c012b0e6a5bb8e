import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats
import TileBodies
import Tiles
internal import Tilesets

/// The option that asks the tile server only for a list of changed tiles.
struct ChangedOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask the server only for the tiles of this list (lines z/x/y, also gzip; - is standard input) and their parents; take the others from kept tiles. May be repeated.",
            valueName: "file"))
    var changed: [String] = []

    /// The most bytes of a list, unpacked.
    private static let limit = 1 << 30

    /// Reads the lists, and says what jobs ask for; the same jobs without a list.
    ///
    /// - Throws: ``CLIError`` 64 for an archive, whose tiles of one version are not read again anyway; 65 with file and line.
    func filled(_ drafts: [JobDraft]) throws -> [JobDraft] {
        guard !changed.isEmpty else { return drafts }
        if let draft = drafts.first(where: { $0.tileset.source.scheme != .templates }) {
            throw CLIError(
                .usage, "--changed is for tile servers; tileset '\(draft.tileset.id)' is an archive",
                hint:
                    "leave it out: tiles of the same version of an archive are not read again, and all tiles of another version are read"
            )
        }
        var list = TileList()
        for name in changed {
            let text = try Self.read(name)
            do throws(TileList.Fault) { try list.add(text) } catch {
                throw CLIError(
                    .badData, "'\(name)', line \(error.line): '\(error.text)' is no tile",
                    hint: "expected z/x/y with rows from the north, for example 14/9343/4798")
            }
        }
        return drafts.map { old in
            var draft = old
            let asked = list.mask(maxZoom: draft.zooms.max).intersection(draft.union)
            draft.changed = asked
            let (count, all) = (asked.count(in: draft.zooms), draft.union.count(in: draft.zooms))
            Console.note(
                "\(draft.label): \(Units.count(count)) of \(Units.count(all, of: "tile")) are asked for by the list; the others only where no tiles are kept"
            )
            return draft
        }
    }

    private static func read(_ name: String) throws -> [UInt8] {
        let bytes =
            name == "-"
            ? [UInt8](FileHandle.standardInput.readDataToEndOfFile()) : [UInt8](try InputFile.read(URL(filePath: name)))
        guard Gzip.isGzip(bytes) else { return bytes }
        do { return try Gzip.decompress(bytes, limit: limit) } catch {
            throw CLIError(.badData, "'\(name)' cannot be unpacked: \(error.message)")
        }
    }
}
