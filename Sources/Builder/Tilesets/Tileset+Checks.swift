import Errors
import TextFormats
import TileBodies
import Tiles

extension Tileset {
    /// Checks every rule for a tileset, whatever its source.
    func check() throws(TilesetsError) {
        guard Self.isID(id) else {
            throw TilesetsError(
                .badValue,
                "Tileset id '\(id.prefix(80))' is invalid; use 1...64 letters, digits, dots, hyphens, or underscores."
            )
        }
        if let language, !Self.isLanguage(language) {
            throw TilesetsError(
                .badValue, "Tileset '\(id)': language '\(language.prefix(40))' is not a language tag such as 'en'.")
        }
        if let keyEnvironment, !Secrets.isName(keyEnvironment) {
            throw TilesetsError(.badValue, "Tileset '\(id)': key must name an environment variable: key: ${NAME}.")
        }
        guard (1...(256 << 20)).contains(maxTileBytes) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': max_tile_bytes must be within 1...268435456.")
        }
        if let statuses = emptyStatuses {
            let good = statuses.allSatisfy { (400...499).contains($0) && !Self.notEmpty.contains($0) }
            guard good, !statuses.isEmpty, statuses == Set(statuses).sorted() else {
                throw TilesetsError(
                    .badValue,
                    "Tileset '\(id)': empty_statuses must be statuses of 400 to 499, each once, without "
                        + "\(Self.notEmpty.sorted().map { "\($0)" }.joined(separator: ", ")), which say that a later request may succeed."
                )
            }
        }
        try RejectedBody.check(reject ?? [], id)
        try build?.check(id)
        try checkLayers()
        try checkPictures()
        try checkPoliteness()
        try checkHeaders()
        try source.scheme.row.check(self)
    }

    /// Statuses that say nothing about a tile: ask a proxy, later, or less often.
    private static let notEmpty: Set<Int> = [407, 408, 425, 429]

    private func checkLayers() throws(TilesetsError) {
        guard (0...1).contains(overfetch ?? 0) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': overfetch must be within 0...1.")
        }
        guard sync != true || source.scheme == .remotePMTiles || source.scheme == .latest else {
            throw TilesetsError(
                .badValue,
                "Tileset '\(id)': sync is of one PMTiles archive on a web server or in a bucket, which has a list of its blocks beside it; the source is no such archive. Remove the line."
            )
        }
        guard let layers else { return }
        guard format.traits.isCuttable else {
            throw TilesetsError(
                .badValue,
                format.traits.isVector
                    ? "Tileset '\(id)': layers cannot be chosen of tiles in the format \(format.rawValue) (\(format.traits.name)), which are kept as they are; remove 'layers', or use a source of Mapbox vector tiles (pbf)."
                    : "Tileset '\(id)': layers can be chosen only for vector tiles; its format is \(format.rawValue)."
            )
        }
        let isUsable = layers.allSatisfy { (1...200).contains($0.utf8.count) }
        guard isUsable, (1...VectorTileScanner.layerLimit).contains(layers.count), layers == Set(layers).sorted() else {
            throw TilesetsError(.badValue, "Tileset '\(id)': layers must be a list of names, each once.")
        }
    }

    private func checkPictures() throws(TilesetsError) {
        guard encoding != nil || tileSize != nil else { return }
        guard [nil, 256, 512].contains(tileSize) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': tile_size must be 256 or 512.")
        }
        guard !format.traits.isVector else {
            throw TilesetsError(
                .badValue,
                "Tileset '\(id)': \(encoding == nil ? "tile_size" : "encoding") is of pictures; its format is \(format.rawValue), which has none. Remove it."
            )
        }
        guard let encoding, format != .png, format != .webp else { return }
        throw TilesetsError(
            .badValue,
            "Tileset '\(id)': encoding \(encoding.rawValue) needs pictures without loss, PNG or lossless WebP; \(format.traits.name) changes the heights."
        )
    }

    private func checkPoliteness() throws(TilesetsError) {
        let good =
            (1...256).contains(politeness.concurrency)
            && (0.01...100_000).contains(politeness.requestsPerSecond ?? 1)
            && (10_000...1_000_000_000_000).contains(politeness.bytesPerSecond ?? 10_000)
            && (0.1...600).contains(politeness.connectSeconds) && (0.1...3_600).contains(politeness.totalSeconds)
            && (1...600).contains(politeness.stallSeconds)
        guard good else { throw TilesetsError(.badValue, "Tileset '\(id)': politeness or timeouts are out of range.") }
        for text in [politeness.userAgent, politeness.contact] {
            guard let text else { continue }
            guard !text.isEmpty, text.utf8.count <= 256, Self.isHeaderText(text) else {
                throw TilesetsError(
                    .badValue, "Tileset '\(id)': user_agent and contact must be one line of at most 256 bytes.")
            }
        }
    }

    private func checkHeaders() throws(TilesetsError) {
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            guard Self.isHeaderName(name), Self.isHeaderText(value), value.utf8.count <= 4_096 else {
                throw TilesetsError(.badValue, "Tileset '\(id)': header '\(name.prefix(64))' cannot be sent.")
            }
            if ["accept-encoding", "host", "content-length", "user-agent", "range"].contains(name.lowercased()) {
                throw TilesetsError(
                    .badValue,
                    "Tileset '\(id)': header '\(name)' is set by Packhorse; remove it (user_agent sets the User-Agent)."
                )
            }
            let variables = try Secrets.names(in: value)
            if variables.isEmpty, Secrets.isSensitive(name) {
                throw TilesetsError(
                    .literalSecret,
                    "Tileset '\(id)': header '\(name)' has its secret in the file; write ${NAME} and set the "
                        + "environment variable where the worker runs.")
            }
        }
    }

    /// Checks an address that workers request, of any kind.
    func checkAddress(_ text: String, needsKey: Bool) throws(TilesetsError) {
        if needsKey, keyEnvironment == nil {
            throw TilesetsError(
                .missingKey, "Tileset '\(id)': its url has {key}; add key: ${NAME} with the variable's name.")
        }
        if let parameter = Secrets.literalParameter(in: text) {
            throw TilesetsError(
                .literalSecret,
                "Tileset '\(id)': the url's parameter '\(parameter.prefix(40))' has its secret in the file; write "
                    + "\(parameter.prefix(40))={key} and add key: ${NAME}.")
        }
        if let host = URLHost(text), !host.isPrivate, politeness.contact == nil {
            throw TilesetsError(
                .missingKey,
                "Tileset '\(id)' fetches from the public server \(host.name) without a contact; add politeness: with contact: and "
                    + "your mail address or web page to a tileset file, or set PACKHORSE_CONTACT.")
        }
    }

    private static func isLanguage(_ text: String) -> Bool {
        (1...35).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
    }
}
