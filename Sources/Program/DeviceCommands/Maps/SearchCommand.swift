import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import OfflineMaps
import Tiles

/// `packhorse device search`.
struct DeviceSearchCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find packages by their names in any language, or by a place.",
        discussion: """
            Uses the last catalog of the store; without one, it reads the catalog from its server.
            With --at, the package with the smallest area is first.
            Examples:
              packhorse device search estonia --store ./maps
              packhorse device search --at 24.75,59.44 --store ./maps
            """)

    @Argument(help: "A part of a name.") var text: String?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Packages that cover this place.", valueName: "longitude,latitude")) var at: String?
    @Option(help: "The language of names in the list: de.") var names = "en"
    @OptionGroup var store: StoreArguments
    @OptionGroup var catalog: CatalogArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard (text == nil) != (at == nil) else { throw ValidationError("Give a part of a name, or --at.") }
    }

    func work() async throws {
        let place = try at.map(PlaceText.read)
        let (content, held) = try await DeviceStore.openReadOnly(store, catalog) { store in
            let known = await store.catalog
            let content: MapCatalog
            if let known, catalog.catalog == nil {
                content = known
            } else {
                content = try await DeviceStore.freshCatalog(of: store, catalog)
            }
            return (content, try await store.installed())
        }
        let found = place.map { content.packages(at: $0) } ?? content.search(text ?? "", language: names)
        let views = found.map { PackageView($0, held, language: names) }
        if json { return Console.result(try JSONText.pretty(views)) }
        var table = Table("id", "group", "language", "version", "installed", "data", "size", "name")
        for view in views { view.add(to: &table) }
        table.lines.forEach(Console.result)
    }
}

/// A place on the command line: `longitude,latitude`.
enum PlaceText {
    /// Reads a place.
    ///
    /// - Throws: ``CLIError`` 64 for any other text, and for a place outside of the map.
    static func read(_ text: String) throws -> Coordinate {
        let numbers = text.split(separator: ",").map { Double($0.trimmingCharacters(in: .whitespaces)) }
        guard numbers.count == 2, let longitude = numbers[0], let latitude = numbers[1],
            (-180...180).contains(longitude), abs(latitude) <= BoundingBox.maxLatitude
        else {
            throw CLIError(
                .usage, "'\(text)' is not a place", hint: "give longitude and latitude in degrees: 24.75,59.44")
        }
        return Coordinate(longitude: longitude, latitude: latitude)
    }
}
