import ArgumentParser
internal import CommandSupport
import Foundation
import OfflineMaps

/// `packhorse device adopt`.
struct DeviceAdoptCommand: DeviceWork {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Take a file of this device into the store.",
        discussion: """
            Accepts MBTiles, PMTiles, an offline database of MapLibre or Mapbox GL, and the archive of a style pack. The
            file is copied and stays as it is; with --move it goes into the store. MBTiles and PMTiles files are read
            completely first, as by 'packhorse verify'; a damaged one is refused. An id under which another file is installed
            is refused without --replace. 'packhorse device update' leaves an adopted file as it is.
            Examples:
              packhorse device adopt city.mbtiles --store ./maps
              packhorse device adopt ./old/EE.pmtiles --id EE --move --store ./maps
            """)

    @Argument(help: "The file or folder.") var file: String
    @Option(help: "The id of the package; default: the name of the file.") var id: String?
    @Flag(help: "Move the file into the store.") var move = false
    @Flag(help: "Leave the file in its place; it must stay there unchanged.") var link = false
    @Flag(help: "Replace another file that is installed under the id.") var replace = false
    @OptionGroup var store: StoreArguments
    @Flag(help: "Print the result as JSON.") var json = false

    func validate() throws {
        guard !move || !link else { throw ValidationError("--move and --link exclude each other.") }
    }

    func work() async throws {
        let url = URL(filePath: file).standardizedFileURL
        try FileKind.requirePath(url)
        let format: Format = url.pathExtension == "pmtiles" ? .pmtiles : .mbtiles
        let (_, items) = try await DeviceStore.openOrCreate(store) { store in
            try await store.adopt(
                url, as: id.map { .package($0, Edition(), format) }, by: move ? .move : link ? .link : .copy,
                replacing: replace
            ) { Console.warning($0) }
        }
        if json { return Console.result(try JSONText.pretty(items)) }
        for item in items { Console.result("adopted \(item.words)") }
    }
}
