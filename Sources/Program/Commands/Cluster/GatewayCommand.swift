import ArgumentParser
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
import Gateway
import Logging
internal import Telemetry
import Tilesets

/// `packhorse gateway`: serves a catalog over HTTP.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Serve a catalog over HTTP: packages, tiles, styles, a web page, and an API for jobs.",
        discussion: """
            Prints the address when it is ready. Stop it with Ctrl-C. It serves only files that the lists of the catalog name, and
            sees new versions within a second. Every file has its SHA-256 as ETag and can be downloaded in ranges.

            Addresses: / (the page), /catalog.html, /catalog.json, /packages/VERSION/ID.mbtiles, /tiles/ID.json, /tiles/ID@VERSION/Z/X/Y,
            /tiles/~TILESET/Z/X/Y, /style/ID/style.json, /world/style.json, /healthz, /readyz, /metrics, /openapi.json.

            With --coordinator it also has the job API below /v1, and builds packages of a mask for CARTO's client and for
            POST /v1/extracts, from the tilesets that --tileset names.

            A token is created with 'packhorse keygen tokens/NAME.token --role viewer' and sent as 'Authorization: Bearer TOKEN'.
            On an address beyond this machine no token is taken unless --behind-proxy or --plain-tokens says that this is safe.

            Examples:
              packhorse gateway catalog
              packhorse gateway catalog --host 0.0.0.0 --public-url https://maps.example.com --trusted-proxy 10.0.0.0/8
              packhorse gateway catalog --tokens tokens --private --behind-proxy
              packhorse gateway catalog --tokens tokens --coordinator tcp://127.0.0.1:7470 --tileset streets.yaml
            """)

    @Argument(help: "The folder of the catalog, or the data folder of a coordinator.") var catalog: String
    @Option(help: "Address to listen on.") var host = "127.0.0.1"
    @Option(help: "Port; 0 takes a free port.") var port = 7480
    @Option(help: ArgumentHelp("The address under which clients reach the gateway.", valueName: "url"))
    var publicURL: String?
    @Option(help: ArgumentHelp("Folder with token files.", valueName: "folder")) var tokens: String?
    @Flag(name: .customLong("private"), help: "Ask for a token for the catalog, tiles and styles, too.")
    var isPrivate = false
    @Option(help: ArgumentHelp("Who may read /metrics: open, viewer or off.", valueName: "who"))
    var metrics = GatewayOptions.MetricsAccess.viewer.rawValue
    @Option(
        help: ArgumentHelp(
            "Address or range of a proxy whose X-Forwarded headers count; may be repeated.", valueName: "range"))
    var trustedProxy: [String] = []
    @Option(help: ArgumentHelp("Origin whose pages may use /v1; may be repeated.", valueName: "origin"))
    var corsOrigin: [String] = []
    @Option(
        help: ArgumentHelp(
            "Internal location of nginx with the catalog's folder: nginx sends the files (X-Accel-Redirect).",
            valueName: "path"))
    var accel: String?
    @Flag(help: "A proxy in front of the gateway encrypts: take tokens on any address.") var behindProxy = false
    @Flag(name: .customLong("plain-tokens"), help: "Take tokens without encryption on any address.")
    var takesPlainTokens = false
    @Option(help: "Open connections in all.") var maxConnections = 10_000
    @Option(help: "Open connections of one address; those of trusted proxies are not counted.")
    var maxConnectionsEach = 64
    @Option(
        help: ArgumentHelp(
            "The coordinator's control endpoint; several, repeated or comma-separated: the coordinator of the highest epoch is asked. Without it only the catalog is served.",
            valueName: "endpoint"))
    var coordinator: [String] = []
    @OptionGroup var keys: KeyOptions
    @Option(
        help: ArgumentHelp("A tileset that may be submitted over HTTP; may be repeated.", valueName: "tileset"))
    var tileset: [String] = []
    @Option(
        help: ArgumentHelp(
            "Another catalog whose packages the page compares with those of this one, such as staging=/srv/staging; for tokens with the role viewer or operator; may be repeated.",
            valueName: "name=folder"))
    var alsoCatalog: [String] = []
    @Option(help: "The most tiles of an extract.") var extractTiles: UInt64 = 5_000
    @Option(
        help: ArgumentHelp(
            "Folder with maplibre-gl.js and maplibre-gl.css 5.3.0 for the page. Default: $PACKHORSE_WEB_LIB, else share/packhorse/web-lib beside the program or in /usr/local or /usr. Without it the page draws its maps itself.",
            valueName: "folder"))
    var webLib: String?
    @OptionGroup var configurationOptions: ConfigurationOptions
    @OptionGroup var log: LogOptions
    @OptionGroup var lifeline: LifelineOptions

    /// The folders of the other catalogs by name.
    private func otherCatalogs() throws -> [String: URL] {
        try CatalogFolders.named(alsoCatalog, option: "--also-catalog", example: "staging=/srv/staging").mapValues {
            URL(filePath: $0, directoryHint: .isDirectory)
        }
    }

    /// The folder that is named, or the catalog in it when it is the data folder of a coordinator.
    private func catalogFolder(_ logger: Logger) -> URL {
        let named = URL(filePath: catalog, directoryHint: .isDirectory)
        if case .folder(let found)? = try? CatalogLocation(catalog) { return found }
        if FileKind.isFolder(named) {
            logger.warning(
                "This folder has no catalog yet; packages are served once one is published in it",
                metadata: [LogKey.path: "\(named.path)"])
        }
        return named
    }

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
        guard (1...100_000).contains(maxConnections) else {
            throw ValidationError("--max-connections must be between 1 and 100000.")
        }
        guard (1...100_000).contains(maxConnectionsEach) else {
            throw ValidationError("--max-connections-each must be between 1 and 100000.")
        }
        guard GatewayOptions.MetricsAccess(rawValue: metrics) != nil else {
            throw ValidationError("--metrics is open, viewer or off.")
        }
        if let accel, !accel.hasPrefix("/") || !accel.hasSuffix("/") {
            throw ValidationError("--accel is a path with a slash at both ends, such as /catalog-files/.")
        }
        try EndpointList.check(coordinator, option: "--coordinator")
        try WebLibrary.check(webLib)
        var addresses = GatewayOptions(catalog: URL(filePath: catalog))
        (addresses.publicURL, addresses.trustedProxies, addresses.corsOrigins) = (publicURL, trustedProxy, corsOrigin)
        if let (option, text) = addresses.problem { throw ValidationError("--\(option): \(text)") }
        _ = try otherCatalogs()
        guard !isPrivate || tokens != nil else {
            throw ValidationError(
                "--private needs --tokens FOLDER: without tokens all requests are refused. Make one: packhorse keygen FOLDER/NAME.token --role client"
            )
        }
        guard !coordinator.isEmpty || tileset.isEmpty else {
            throw ValidationError("--tileset needs --coordinator: without it nothing can be submitted.")
        }
    }

    func run() async throws {
        Hangup.prepare()
        lifeline.watch()
        try ProcessLimits.require(.service)
        MallocArenas.limitToCores()
        let logger = log.logger("gateway")
        var options = GatewayOptions(catalog: catalogFolder(logger))
        options.host = host
        options.port = port
        options.publicURL = publicURL
        options.tokens = tokens.map { URL(filePath: $0, directoryHint: .isDirectory) }
        options.isPrivate = isPrivate
        options.metrics = GatewayOptions.MetricsAccess(rawValue: metrics) ?? .viewer
        options.trustedProxies = trustedProxy
        options.accelerated = accel
        options.corsOrigins = corsOrigin
        options.takesTokensUnencrypted = behindProxy || takesPlainTokens
        options.maxConnections = maxConnections
        options.maxConnectionsEach = maxConnectionsEach
        options.extractTiles = extractTiles
        options.otherCatalogs = try otherCatalogs()
        options.sample = Estimate.sample
        options.onRound = { ServiceManager.shared.pulse() }
        if !coordinator.isEmpty {
            options.coordinator = ClusterAccess(
                endpoints: EndpointList.addresses(coordinator), security: try keys.client(as: .operator),
                allowPlain: keys.insecure)
        }
        let library = WebLibrary.folder(
            option: webLib, environment: Variable.value(WebLibrary.variable), program: ChildProcess.program)
        options.page = .embedded(library: library)
        options.tilesets = try tileset.map { name in
            // A wrong file ends the start; the file is read again with each attempt and on SIGHUP.
            _ = try TilesetReader.file(name)
            return TilesetSource.ofAnyKind {
                let file = try TilesetReader.file(name)
                return TilesetSource.Found(try await TilesetReader.complete(file), following: file.following)
            }
        }
        let server = GatewayServer(options, logger: logger)
        let (host, publicURL) = (host, publicURL)
        let steps =
            Configuration.reloadSteps + [
                ReloadStep("tokens") { await server.reloadTokens() },
                ReloadStep("tilesets") { try await server.reloadTilesets() },
            ]
        try await ServiceRunner.run(logger, reload: steps) {
            try await server.run { port in
                // People open the first one; 0.0.0.0 is no address that a browser can.
                let address = "http://\(host):\(port)"
                Console.result(publicURL ?? address)
                ServiceManager.shared.ready(publicURL.map { "serves \($0) at \(address)" } ?? "serves \(address)")
            }
        }
    }
}
