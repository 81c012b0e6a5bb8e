internal import ClusterClient
internal import Files
internal import HummingbirdCore
internal import Regions
internal import Tiles
internal import WebRequests

/// Answers with regions of the embedded tree.
enum RegionResponder {
    private struct View: Encodable {
        let id: String
        let kind: String
        let parent: String?
        let name: String
        let names: [String: String]
        let path: String
        let bounds: [Double]
        let children: [String]
    }

    private struct Found: Encodable {
        let regions: [View]
        let towns: [TownView]
    }

    /// The most towns of an answer.
    private static let mostTowns = 20

    static func region(_ routed: RoutedRequest) throws(Problem) -> Response {
        let (region, tree) = try find(routed)
        return APIResponder.json(view(region, tree, routed.path.parameter("lang") ?? "en"))
    }

    static func regions(_ routed: RoutedRequest) throws(Problem) -> Response {
        let tree = try routed.services.world.tree()
        let language = routed.path.parameter("lang") ?? "en"
        guard let text = routed.path.parameter("q"), !text.isEmpty else {
            let top = tree.regions.filter { $0.kind <= .continent }
            return APIResponder.json(Found(regions: top.map { view($0, tree, language) }, towns: []))
        }
        guard text.utf8.count <= 200 else { throw Problem(.badParameter, "q is longer than 200 bytes.") }
        // A text that names no region has suggestions.
        let exact = try? tree.find(text)
        let ids = [exact?.id].compactMap(\.self) + tree.suggestions(for: text)
        var found: [View] = []
        for id in ids {
            // Suggestions are ids or names.
            guard let region = tree[id] ?? (try? tree.find(id)), !found.contains(where: { $0.id == region.id }) else {
                continue
            }
            found.append(view(region, tree, language))
        }
        return APIResponder.json(Found(regions: found, towns: try towns(text, in: tree, language: language)))
    }

    private static func towns(_ text: String, in tree: RegionTree, language: String) throws(Problem) -> [TownView] {
        do throws(RegionsError) {
            let found = try PlaceSearch.find(text, in: tree, try TownList.embedded(), limit: mostTowns)
            return found.towns.map { TownView($0, in: tree, language: language) }
        } catch { throw Problem(.internalError, "The embedded towns cannot be read.") }
    }

    /// The outline of a region, which never changes while this program runs.
    static func outline(_ routed: RoutedRequest) async throws(Problem) -> Response {
        let zoom = try routed.number("zoom", 0...14) ?? 6
        let (region, tree) = try find(routed)
        let made: Result<ServedDocument, any Error>
        do {
            made = .success(
                try await FileWork.run {
                    ServedDocument(
                        RegionOutline.geoJSON(region, in: tree, zoom: zoom), mediaType: "application/geo+json")
                })
        } catch { made = .failure(error) }
        guard case .success(let document) = made else {
            throw Problem(.internalError, "The outline of '\(region.id)' cannot be made.")
        }
        return try DocumentResponder.respond(document, to: routed.request, cacheControl: "public, max-age=86400")
    }

    /// The region of the path.
    static func find(_ routed: RoutedRequest) throws(Problem) -> (Region, RegionTree) {
        let (tree, id) = (try routed.services.world.tree(), routed["region"])
        guard let region = tree[id] else { throw Problem(.notFound, "There is no region '\(id.prefix(40))'.") }
        return (region, tree)
    }

    private static func view(_ region: Region, _ tree: RegionTree, _ language: String) -> View {
        let box = region.bounds
        return View(
            id: region.id, kind: region.kind.rawValue, parent: region.parentID, name: region.name(language),
            names: region.names, path: tree.path(of: region.id, language: language),
            bounds: [box.west, box.south, box.east, box.north], children: tree.children(of: region.id).map(\.id))
    }
}
