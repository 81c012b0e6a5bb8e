import Foundation
import OfflineMaps
import Tiles

/// The JSON that functions of C return.
struct CatalogDocument: Encodable {
    let packages: [PackageDocument]
    let styles: [StyleDocument]

    init(_ catalog: MapCatalog) {
        packages = PackageDocument.list(catalog.packages, language: "en")
        styles = catalog.styles.map(StyleDocument.init)
    }
}

/// A package of the catalog's main edition.
struct PackageDocument: Encodable {
    let id: String
    let name: String
    let version: Int32
    let size: UInt64
    let tileset: String?
    let minZoom: Int?
    let maxZoom: Int?
    let dataDate: String?
    let attribution: String?

    static func list(_ packages: [PackageInfo], language: String) -> [PackageDocument] {
        packages.filter { $0.edition == Edition() }.map { PackageDocument($0, language) }
    }

    private init(_ info: PackageInfo, _ language: String) {
        (id, name, version, size) = (info.id, info.name(language), info.version, info.size)
        (tileset, minZoom, maxZoom) = (info.tileset, info.zooms?.min, info.zooms?.max)
        (dataDate, attribution) = (info.dataDate, info.attribution)
    }
}

/// A style of the catalog.
struct StyleDocument: Encodable {
    let id: String
    let name: String?
    let version: Int32
    let size: UInt64

    init(_ info: StyleInfo) { (id, name, version, size) = (info.id, info.name, info.version, info.size) }
}

/// What an update would download.
struct UpdateDocument: Encodable {
    struct Change: Encodable {
        let item: Item
        let from: Int32?
        let to: Int32
        let bytes: UInt64
        let isPatch: Bool
    }
    let bytes: UInt64
    let changes: [Change]

    init(_ offer: UpdateOffer) {
        bytes = offer.bytes
        changes = offer.changes.map {
            Change(item: $0.item, from: $0.from, to: $0.to, bytes: $0.bytes, isPatch: $0.isPatch)
        }
    }
}

/// A file that is missing or damaged.
struct FindingDocument: Encodable {
    let item: Item?
    let path: String
    let problem: String

    init(_ finding: Finding) { (item, path, problem) = (finding.item, finding.path, finding.problem) }
}

extension CData {
    /// A document as `ofm_data`.
    static func json(_ document: some Encodable) throws(StoreError) -> Handle {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return .given(CData([UInt8](try encoder.encode(document)), type: "application/json")) } catch {
            throw StoreError(.storage, "The answer cannot be written as JSON.", cause: error)
        }
    }
}
