import Errors
import Tilesets

/// A tile server that is asked with URL templates.
enum TemplateAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription { SourceDescription() }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        let origin = try HTTPOrigin(
            tileset, environment: opening.environment, budget: opening.budget, lanes: opening.lanes,
            layers: opening.layers, onAnswer: opening.observer(of: .tiles))
        guard let place = tileset.buildPlace, let question = try BuildQuestion(tileset, opening) else { return origin }
        return try await BuildOrigin(origin, question, place: place)
    }
}
