internal import Errors
internal import Files
internal import Foundation
internal import Tiles

extension Adopter {
    /// Takes what `packhorse install` put into a folder: packages, tile packs and styles.
    mutating func addFolder(_ home: URL) throws(StoreError) {
        let record = try Self.record(home)
        for package in record.packages {
            let file = try Self.inside(home, package.file)
            let edition = Edition(group: package.group, language: package.language)
            let format = Format(package.format)
            let facts = Facts(
                version: package.version, dataDate: package.dataDate, attribution: package.attribution,
                sha256: way == .link ? nil : package.sha256)
            let isKnown = [.mbtiles, .pmtiles, .maplibre].contains(format)
            // A file that was replaced by one of another kind is refused, and not taken as what it is.
            if isKnown, try FileKind.of(file) != format.kind {
                throw StoreError.failing(
                    .badFile, "'\(file.path)' is no file in the format \(format.name), as '\(InstallRecord.name)' says."
                )
            }
            guard isKnown else { continue }
            try addTiles(file, as: .package(package.id, edition, format), format, facts: facts)
        }
        for region in record.regions ?? [] { try addPacks(of: region, home) }
        for style in record.styles ?? [] {
            try addStyle(
                try Self.inside(home, style.file), as: .style(style.id),
                Facts(version: style.version, sha256: way == .link ? nil : style.sha256))
        }
    }

    private mutating func addPacks(of region: InstallRecord.Region, _ home: URL) throws(StoreError) {
        let file = try Self.inside(home, region.list)
        guard let bytes = try? Data(contentsOf: file), bytes.count <= PackList.maxBytes,
            let list = PackList(bytes, at: region.list)
        else { throw StoreError.failing(.badFile, "'\(file.path)' is no list of tile packs.") }
        let edition = Edition(group: region.group, language: region.language)
        for pack in list.packs {
            try addPack(try Self.inside(home, pack.path), pack, of: list, region: region, edition: edition)
        }
    }

    private mutating func addPack(
        _ file: URL, _ pack: PackList.Pack, of list: PackList, region: InstallRecord.Region, edition: Edition
    ) throws(StoreError) {
        let item = Item.packs(region.id, edition)
        let key = UnitKey.pack(
            tileset: list.tileset, pack.index, pack.zooms, edition: edition, of: pack.isComplete ? nil : region.id)
        let target = folder.pack(list.tileset, pack.index, sha256: pack.sha256).deletingPathExtension()
        let mask = try Self.mask(of: file, pack, list.format)
        var unit = UnitRow(
            item: item, version: 0, path: folder.relative(URL(filePath: target.path + list.format.fileExtension)) ?? "",
            bytes: pack.size, sha256: pack.sha256, format: list.format, mask: mask, zooms: pack.zooms,
            tileset: list.tileset)
        guard try FileProbe.isSound(file, unit) else {
            throw StoreError.failing(.badFile, "'\(file.path)' is no tile pack, as the list '\(region.list)' says.")
        }
        let place: Adopted.Place
        do throws(StorageError) {
            (place, unit.sha256, unit.bytes) = try bring(file, expecting: way == .link ? nil : pack.sha256)
        } catch {
            if error.code == .digestMismatch { throw .failing(.badFile, error.message, below: error) }
            throw .storage(error, "'\(file.path)' cannot be taken into the store.")
        }
        if place == .outside { unit.path = file.absoluteURL.path }
        let id = FileID(unit: key, version: 0, digest: unit.sha256)
        adopted.append(
            Adopted(item: item, piece: Piece(holder: item, file: id, size: unit.bytes), unit: unit, place: place))
    }

    /// All tiles of a whole pack; of a part those that it has.
    private static func mask(of file: URL, _ pack: PackList.Pack, _ format: Format) throws(StoreError) -> TileMask {
        if pack.isComplete {
            return TileMask(tiles: [pack.index], maxZoom: pack.index.zoom).expanded(toZoom: pack.zooms.max)
        }
        do {
            return try (format == .pmtiles ? TileFileFacts(pmtiles: file) : TileFileFacts(mbtiles: file)).mask
        } catch { throw StoreError.failing(.badFile, "'\(file.path)' cannot be read as a tile pack.", below: error) }
    }

    private static func record(_ home: URL) throws(StoreError) -> InstallRecord {
        let file = home.appending(path: InstallRecord.name)
        let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? nil
        guard let size, size <= InstallRecord.maxBytes, let bytes = try? Data(contentsOf: file),
            let record = try? JSONDecoder().decode(InstallRecord.self, from: bytes)
        else { throw StoreError.failing(.badFile, "'\(file.path)' was not written by 'packhorse install'.") }
        return record
    }

    /// A file of the folder; refuses paths that lead out of it, also through a symbolic link.
    private static func inside(_ home: URL, _ path: String) throws(StoreError) -> URL {
        let root = home.absoluteURL.resolvingSymlinksInPath()
        guard let file = StoreFolder(root).file(path),
            file.resolvingSymlinksInPath().path.hasPrefix(root.path.hasSuffix("/") ? root.path : root.path + "/")
        else { throw StoreError.failing(.badFile, "'\(path.prefix(200))' leads out of '\(home.path)'.") }
        return file
    }
}

extension Format {
    fileprivate var kind: FileKind? {
        switch self {
        case .mbtiles: .mbtiles
        case .pmtiles: .pmtiles
        case .maplibre: .maplibre
        default: nil
        }
    }
}
