import CatalogFormat
internal import CommandSupport
internal import TextFormats

extension InstallCommand {
    /// Prints the packages of the catalog, and which of them are installed in a folder.
    func list(_ index: CatalogIndex, installed folder: InstallFolder?) throws {
        let record = try folder?.record()
        let rows = index.packages.compactMap { PackageView($0, in: index, record: record) }
        if json { return Console.result(try JSONText.pretty(rows)) }
        var table = Table(
            "id", "group", "language", "version", record == nil ? "" : "installed", "data", "size", "name")
        for row in rows {
            table.add(
                row.id, row.group ?? "-", row.language ?? "-", "\(row.version)",
                record == nil ? "" : row.installed.map { "\($0)" } ?? "-", row.dataDate ?? "-",
                row.sizes.sorted { $0.key < $1.key }.map { "\($0.key) \(Units.bytes(UInt64(max(0, $0.value))))" }
                    .joined(separator: ", "), row.name)
        }
        table.lines.forEach(Console.result)
        for style in index.styles ?? [] {
            Console.result(
                "style \(style.id)  version \(style.version)  \(Units.bytes(UInt64(max(0, style.size))))  \(style.name ?? "-")"
            )
        }
    }
}

/// One file as printed.
struct InstallView: Encodable {
    let id: String
    let group: String?
    let language: String?
    let version: Int32
    let installed: Int32?
    let file: String
    let size: Int64
    let how: String
    let fetch: Int64

    init(_ step: Installer.Step) {
        id = step.package.id
        group = step.edition.group
        language = step.edition.language
        version = step.version.version
        installed = step.installed
        file = step.target
        size = step.file.size
        fetch = step.plan.bytes(of: step.file)
        switch step.plan {
        case .upToDate: how = "up to date"
        case .patch(let patch): how = "patch from \(patch.from)"
        case .whole: how = "whole file"
        }
    }

    init(_ step: Installer.PackStep) {
        id = step.region.id
        group = step.region.group
        language = step.region.language
        version = step.region.version
        installed = nil
        file = step.region.list
        let packs = step.region.packs.count
        fetch = step.bytes
        size = Int64(step.list.count)
        how =
            step.missing.isEmpty
            ? "\(Units.count(packs, of: "tile pack")), up to date"
            : "\(Units.count(UInt64(step.missing.count))) of \(Units.count(packs, of: "tile pack"))"
    }

    init(_ step: Installer.StyleStep) {
        id = step.style.id
        group = nil
        language = nil
        version = step.style.version
        installed = nil
        file = step.target
        size = step.style.size
        fetch = step.isThere ? 0 : step.style.size
        how = step.isThere ? "up to date" : "style pack"
    }

    var line: String {
        "\(file)  version \(version)  \(Units.bytes(UInt64(max(0, size))))  \(how)"
            + (fetch > 0 ? ": \(Units.bytes(UInt64(fetch))) to fetch" : "")
    }
}

/// A package of the catalog as printed.
struct PackageView: Encodable {
    let id: String
    let group: String?
    let language: String?
    let version: Int32
    /// The installed version; the lowest one if several formats are installed.
    let installed: Int32?
    let dataDate: String?
    let sizes: [String: Int64]
    let name: String

    init?(_ package: CatalogIndex.Package, in index: CatalogIndex, record: InstallFolder.Record?) {
        guard let newest = package.versions.first,
            let edition = index.editions.first(where: { $0.path == package.edition })
        else { return nil }
        id = package.id
        group = edition.group
        language = edition.language
        version = newest.version
        let own = [edition.group, edition.language]
        let versions =
            (record?.packages ?? []).filter { $0.id == package.id && [$0.group, $0.language] == own }.map(\.version)
            + (record?.regions ?? []).filter { $0.id == package.id && [$0.group, $0.language] == own }.map(\.version)
        installed = versions.min()
        dataDate = newest.dataDate
        sizes = Dictionary(newest.files.map { ($0.format, $0.size) }, uniquingKeysWith: { first, _ in first })
        name = package.names["en"] ?? package.names.min { $0.key < $1.key }?.value ?? package.id
    }
}
