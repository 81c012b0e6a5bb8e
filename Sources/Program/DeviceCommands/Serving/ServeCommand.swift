import ArgumentParser
internal import CommandSupport
import Errors
import Foundation
import Logging
import OfflineMaps

/// `packhorse device serve`.
struct DeviceServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the styles, tiles, glyphs and sprites of a store to renderers on this machine.",
        discussion: """
            Listens on 127.0.0.1 only, and prints the address when it is ready. Stop it with Ctrl-C. Updates of the store
            become visible at once. Without --online no request of a renderer leads to the network, and with it only to
            servers that an installed style names. The command also does the tasks of the queue, as run --forever does.
            Addresses: /styles/ID.json, /tilesets/ID.json (TileJSON), /tiles/TILESET/Z/X/Y.
            Examples:
              packhorse device serve --store ./maps
              packhorse device serve --store ./maps --port 8090 --online
            """)

    @OptionGroup var store: StoreArguments
    @Option(help: "Port; 0 takes a free port.") var port = 8080
    @Flag(help: "Ask the network for what the store does not have, and keep it in the ambient cache.") var online =
        false
    @OptionGroup var log: LogOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
    }

    func run() async throws {
        let opened: MapStore
        do { opened = try await DeviceStore.openExisting(store) } catch let error as StoreError {
            throw CLIError(error)
        }
        // The process that holds the store does the work that other commands ask for.
        try await opened.start()
        let logger = log.logger("device")
        let server = MapServer(store: opened, port: port, isOnline: online, logger: logger)
        try await ServiceRunner.run(logger) {
            try await server.run { port in Console.result("http://127.0.0.1:\(port)") }
        }
        await opened.stop()
    }
}
