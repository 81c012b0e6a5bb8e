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
        try checkLayers()
        try checkPoliteness()
        try checkHeaders()
        try checkSource()
    }

    private func checkLayers() throws(TilesetsError) {
        guard (0...1).contains(overfetch ?? 0) else {
            throw TilesetsError(.badValue, "Tileset '\(id)': overfetch must be within 0...1.")
        }
        guard let layers else { return }
        guard format.traits.isVector else {
            throw TilesetsError(
                .badValue,
                "Tileset '\(id)': layers can be chosen only for vector tiles; its format is \(format.rawValue).")
        }
        let isUsable = layers.allSatisfy { (1...200).contains($0.utf8.count) }
        guard isUsable, (1...VectorTileScanner.layerLimit).contains(layers.count), layers == Set(layers).sorted() else {
            throw TilesetsError(.badValue, "Tileset '\(id)': layers must be a list of names, each once.")
        }
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

    private func checkSource() throws(TilesetsError) {
        switch source {
        case .mbtiles(let path), .pmtiles(let path):
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw TilesetsError(.badValue, "Tileset '\(id)': the archive's path must be absolute.")
            }
        case .remotePMTiles(let url):
            guard url.utf8.count <= 4_096, !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
                throw TilesetsError(
                    .badValue, "Tileset '\(id)': the archive's address must be a URL of at most 4,096 bytes.")
            }
            if url.lowercased().hasPrefix("s3://") {
                guard url.dropFirst(5).split(separator: "/").count > 1, !url.contains("{"), !url.contains("?") else {
                    throw TilesetsError(
                        .badValue, "Tileset '\(id)': an archive in a bucket must be written as s3://bucket/key.")
                }
                return
            }
            try HostPolicy.check(url)
            guard !url.replacing("{key}", with: "").contains("{") else {
                throw TilesetsError(
                    .badTemplate, "Tileset '\(id)': the archive's address can have no other placeholder than {key}.")
            }
            try checkAddress(url, needsKey: url.contains("{key}"))
        case .http(let texts, _):
            guard !texts.isEmpty, texts.count <= 64, texts.allSatisfy({ $0.utf8.count <= 4_096 }) else {
                throw TilesetsError(.badValue, "Tileset '\(id)': 1...64 tile URLs of at most 4,096 bytes are needed.")
            }
            for template in try templates() { try check(template) }
        }
    }

    private func check(_ template: URLTemplate) throws(TilesetsError) {
        if template.needsLanguage, language == nil {
            throw TilesetsError(.missingKey, "Tileset '\(id)': its url has {language}; add for example language: en.")
        }
        // {s} is checked by the template itself; one host is enough to know whether it is public.
        try checkAddress(template.text.replacing("{s}", with: "a"), needsKey: template.needsKey)
    }

    /// Checks an address that workers request, of any kind.
    private func checkAddress(_ text: String, needsKey: Bool) throws(TilesetsError) {
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
