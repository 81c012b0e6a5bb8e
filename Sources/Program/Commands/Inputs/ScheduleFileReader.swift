import ArgumentParser
internal import ClusterClient
internal import CommandSupport
import Coordinator
import Errors
import Files
import Foundation
internal import TextFormats
import Tiles
import Tilesets
import Wire

/// Reads the files of a schedule again, for a coordinator: the same readers as those of the command line.
struct ScheduleFileReader: Sendable {
    /// Files below it may be read; `nil` = none.
    let folder: URL?

    /// The submission with what its files say now.
    func read(_ stored: PBSubmit) async -> Result<PBSubmit, ScheduleFileProblem> {
        do { return .success(try await changed(stored)) } catch {
            let known = ErrorTranslation.cliError(error) ?? CLIError(.badData, "\(error)")
            return .failure(ScheduleFileProblem(text: Sentence.inner(known.message), hint: known.hint ?? ""))
        }
    }

    private func changed(_ stored: PBSubmit) async throws -> PBSubmit {
        let names = stored.follows
        var stored = stored
        var tileset = try Tileset(canonicalJSON: Array(stored.tileset))
        if !names.tileset.isEmpty {
            let file = try tilesetFile(names)
            if let following = file.following {
                // The coordinator looks for the newest build.
                stored.latest = following
            } else {
                stored.latest = ""
                tileset = try await TilesetReader.pinned(file).tileset
            }
        }
        let (body, found) = (stored, tileset)
        // Areas of many packages take seconds of a thread.
        return try await FileWork.run { try packages(of: body, found) }
    }

    /// The submission over a tileset, with the packages that its list names now.
    private func packages(of stored: PBSubmit, _ known: Tileset) throws -> PBSubmit {
        let names = stored.follows
        var (body, tileset) = (stored, known)
        let zooms = try zooms(names, of: stored, tileset)
        if names.packages.isEmpty {
            tileset = try tileset.narrowed(to: try Self.union(stored, zooms), zooms: zooms)
            body.tileset = Data(tileset.canonicalJSON)
            return body
        }
        let url = try inside(names.packages)
        let regions = try RegionFolderOptions.parse([])
        let areas = try PackagesFile(url, tree: { try regions.tree }).areas()
        try TownReader.check(areas, example: "'margin: 20km'")
        let packs = stored.publish.tilePacks.isEmpty ? nil : try PackScheme(parsing: stored.publish.tilePacks)
        var draft = try JobDraft(
            areas: areas, zooms: zooms, tileset: tileset, label: PackagesFile.label(url, count: areas.count),
            packs: packs)
        draft.publish = stored.publish
        let request = draft.request(SubmitPolicy(requestID: ""))
        (body.kind, body.label, body.packages) = (request.kind, request.label, request.packages)
        (body.tileset, body.zoomMin, body.zoomMax) = (request.tileset, request.zoomMin, request.zoomMax)
        return body
    }

    private func tilesetFile(_ names: PBFollowedFiles) throws -> TilesetFile {
        let file = try TilesetReader.file(try inside(names.tileset).path)
        return names.language.isEmpty ? file : file.inLanguage(names.language)
    }

    /// The zooms of a tileset that has no builds follow it where the packages are read again too.
    private func zooms(_ names: PBFollowedFiles, of stored: PBSubmit, _ tileset: Tileset) throws -> ZoomRange {
        guard let kept = ZoomRange(min: Int(stored.zoomMin), max: Int(stored.zoomMax)) else {
            throw CLIError(.badData, "the schedule has no zooms")
        }
        var options = try TilesetOptions.parse([])
        let isFixed = names.fixesZooms || names.packages.isEmpty || tileset.build != nil
        options.zoom = isFixed ? "\(kept.min)-\(kept.max)" : nil
        return try options.zooms(of: tileset)
    }

    /// A file below the folder, after symbolic links.
    ///
    /// - Throws: ``CLIError`` 64, which does not say whether the file exists.
    private func inside(_ path: String) throws -> URL {
        guard let folder else {
            throw CLIError(
                .usage, "the coordinator reads no files of schedules",
                hint: "start it with --schedule-files FOLDER, or add the schedule without --follow-files")
        }
        let root = folder.resolvingSymlinksInPath().standardizedFileURL.path
        let file = URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL
        guard path.hasPrefix("/"), file.path.hasPrefix(root.hasSuffix("/") ? root : root + "/") else {
            throw CLIError(
                .usage, "'\(path.prefix(300))' is not below '\(root)', where the coordinator reads files of schedules",
                hint: "put the file there (coordinator --schedule-files)")
        }
        return file
    }

    private static func union(_ body: PBSubmit, _ zooms: ZoomRange) throws -> TileMask {
        let masks = try body.packages.map {
            try TileMask(decoding: $0.mask).expanded(toZoom: zooms.max).clipped(toZoom: zooms.max)
        }
        return TileMask(union: masks) ?? TileMask(empty: zooms.max)
    }
}
