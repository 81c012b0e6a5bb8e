internal import OfflineMaps
internal import Tiles

/// The packages and boxes that are installed.
struct LocalPackages: Sendable {
    let store: MapStore
    let names: PackageNames

    /// Packages in the order of their installation, then boxes in that of their registration.
    ///
    /// A store that cannot be read has none: the SDK's calls have no errors.
    func all() async -> [PackageInfo] {
        let catalog = await store.catalog
        var packages: [PackageInfo] = []
        // A store that cannot be read has none.
        for installed in (try? await store.installed()) ?? [] {
            guard let id = names.id(of: installed.item), BoxID(id) == nil else { continue }
            var info =
                catalog?.package(id, names.edition)
                ?? PackageInfo(
                    id: id, edition: names.edition, version: installed.version, size: installed.bytes,
                    mask: TileMask(empty: 0))
            (info.version, info.size, info.dataDate) = (installed.version, installed.bytes, installed.dataDate)
            packages.append(info)
        }
        // A store that cannot be read has none.
        for region in (try? await store.regions()) ?? [] where BoxID(region.text) != nil {
            guard let info = try? await store.region(region), info.isUsable else { continue }
            packages.append(
                PackageInfo(
                    id: region.text, edition: names.edition, version: 1, size: info.bytes, mask: info.covered,
                    zooms: info.zooms))
        }
        return packages
    }
}

extension RegionInfo {
    /// Whether everything of the region is on the device.
    var isUsable: Bool { state == .complete || state == .stale }
}
