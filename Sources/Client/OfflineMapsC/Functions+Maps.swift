import Foundation
import OfflineMaps
import Tiles

// The functions of offlinemaps.h, which describes them: opening, lists, styles and tiles.

/// Where a function of C puts a handle.
public typealias HandleResult = UnsafeMutablePointer<UnsafeMutableRawPointer?>

/// `ofm_maps_open` of offlinemaps.h.
@_cdecl("ofm_maps_open") public func openMaps(
    folder: UnsafePointer<CChar>?, catalog: UnsafePointer<CChar>?, key: UnsafePointer<CChar>?,
    token: UnsafePointer<CChar>?, maps: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        guard let maps else { throw .needed("maps") }
        maps.pointee = .given(
            try MapsHandle.open(
                try text(folder, "folder"), catalog: try text(catalog, "catalog"), key: try text(key, "key"),
                token: try optionalText(token, "token")))
    }
}

/// `ofm_maps_free` of offlinemaps.h.
@_cdecl("ofm_maps_free") public func freeMaps(_ maps: Handle?) { maps?.taken(MapsHandle.self).close() }

/// `ofm_maps_catalog` of offlinemaps.h.
@_cdecl("ofm_maps_catalog") public func catalog(_ maps: Handle?, maxAge: Int64, json: HandleResult?) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        let catalog = try blocking { [store = handle.maps.store] () async throws(StoreError) in
            if maxAge < 0 { return try await store.knownCatalog }
            return try await store.refreshCatalog(ifOlderThan: .seconds(min(maxAge, 1 << 40)))
        }
        json.pointee = try CData.json(CatalogDocument(catalog))
    }
}

/// `ofm_maps_search` of offlinemaps.h.
@_cdecl("ofm_maps_search") public func search(
    _ maps: Handle?, text words: UnsafePointer<CChar>?, language: UnsafePointer<CChar>?, json: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        let (words, language) = (try text(words, "text"), try text(language, "language"))
        let catalog = try blocking { [store = handle.maps.store] () async throws(StoreError) in
            try await store.knownCatalog
        }
        json.pointee = try CData.json(
            PackageDocument.list(catalog.search(words, language: language), language: language))
    }
}

/// `ofm_maps_installed` of offlinemaps.h.
@_cdecl("ofm_maps_installed") public func installed(_ maps: Handle?, json: HandleResult?) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        json.pointee = try CData.json(
            try blocking { [store = handle.maps.store] () async throws(StoreError) in try await store.installed() })
    }
}

/// `ofm_maps_updates` of offlinemaps.h.
@_cdecl("ofm_maps_updates") public func updates(_ maps: Handle?, json: HandleResult?) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        let offer = try blocking { [store = handle.maps.store] () async throws(StoreError) in
            try await store.updates()
        }
        json.pointee = try CData.json(UpdateDocument(offer))
    }
}

/// `ofm_maps_verify` of offlinemaps.h.
@_cdecl("ofm_maps_verify") public func verify(_ maps: Handle?, json: HandleResult?) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        let findings = try blocking { [maps = handle.maps] () async throws(StoreError) in try await maps.verify() }
        json.pointee = try CData.json(findings.map(FindingDocument.init))
    }
}

/// `ofm_maps_style` of offlinemaps.h.
@_cdecl("ofm_maps_style") public func style(
    _ maps: Handle?, style: UnsafePointer<CChar>?, package: UnsafePointer<CChar>?, json: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, json) = try open(maps, json)
        let document = try handle.maps.style(try text(style, "style"), for: try text(package, "package"))
        json.pointee = .given(CData([UInt8](document), type: "application/json"))
    }
}

/// `ofm_maps_tile` of offlinemaps.h.
@_cdecl("ofm_maps_tile") public func tile(
    _ maps: Handle?, tileset: UnsafePointer<CChar>?, z: Int32, x: Int32, y: Int32, tile: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, result) = try open(maps, tile)
        guard let id = TileID(zoom: Int(z), x: Int(x), y: Int(y)) else {
            throw StoreError(.invalidArguments, "\(z)/\(x)/\(y) is no tile: zooms are 0 to 22, x and y below 2^z.")
        }
        switch try handle.maps.store.tiles.tile(id, of: try optionalText(tileset, "tileset")) {
        case .found(let tile):
            result.pointee = .given(CData([UInt8](try tile.uncompressed()), type: tile.mediaType))
        case .empty: result.pointee = .given(CData([], type: ""))
        case .absent: result.pointee = nil
        }
    }
}

/// `ofm_maps_set_offline` of offlinemaps.h.
@_cdecl("ofm_maps_set_offline") public func setOffline(_ maps: Handle?, offline: Int32) -> Handle? {
    attempt { () throws(StoreError) in
        guard let maps else { throw .needed("maps") }
        let store = maps.object(MapsHandle.self).maps.store
        try blocking { () async throws(StoreError) in await store.forceOffline(offline != 0) }
    }
}

extension MapStore {
    /// The last list, from disk.
    ///
    /// - Throws: `not-in-catalog` when none was read.
    fileprivate var knownCatalog: MapCatalog {
        get async throws(StoreError) {
            guard let catalog = await catalog else {
                throw StoreError(
                    .notInCatalog, "No catalog was read yet.", advice: "Read the catalog or download a map first.")
            }
            return catalog
        }
    }
}
