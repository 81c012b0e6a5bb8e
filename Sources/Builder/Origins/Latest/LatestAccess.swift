import Errors
import Foundation
public import Tilesets
import Transfer

/// A source whose address changes with each build: what is found takes its place before a job is submitted.
enum LatestAccess: SourceAccess {
    static func metadata(
        of file: TilesetFile, environment: [String: String]
    ) async throws(OriginsError) -> SourceDescription {
        guard let found = try await NewestBuild(file, environment).find(unlike: nil) else {
            // Without a build to compare with there is always an answer.
            throw OriginsError(.unreachable, "The newest build was not found.")
        }
        return found
    }

    static func open(_ tileset: Tileset, _ opening: SourceOpening) async throws(OriginsError) -> any TileOrigin {
        throw OriginsError(.tileset, "Tileset '\(tileset.id)': its newest build was not looked up.")
    }
}

/// The build of a job, for a comparison with the newest one.
public struct KnownBuild: Sendable, Hashable {
    /// The build.
    public let build: SourceBuild
    /// The version of its archive's data, as ``OriginMetadata/pinned(_:environment:)`` gave it.
    public let version: String?
    /// Whether nothing is to be done for the same build; else it only says which builds are older.
    public let suffices: Bool

    /// A build of an earlier job.
    public init(_ build: SourceBuild, version: String?, suffices: Bool = true) {
        (self.build, self.version, self.suffices) = (build, version, suffices)
    }
}

/// Looks for the newest build of a source.
struct NewestBuild {
    private let file: TilesetFile
    private let asking: Tileset
    private let rules: LatestSource
    private let environment: [String: String]
    private let now: Double

    /// - Parameter now: Seconds since 1970.
    /// - Throws: ``OriginsError`` `.tileset` for a source that may not be asked.
    init(
        _ file: TilesetFile, _ environment: [String: String], now: Double = Date().timeIntervalSince1970
    ) throws(OriginsError) {
        (self.file, self.environment, self.now) = (file, environment, now)
        asking = try OriginMetadata.asking(file)
        guard let rules = LatestSource(text: file.source.address) else {
            throw OriginsError(.tileset, "Tileset '\(asking.id)': its latest cannot be read.")
        }
        self.rules = rules
    }

    /// The newest build; `nil` when it is the known one.
    ///
    /// - Throws: ``OriginsError``.
    func find(unlike known: KnownBuild?) async throws(OriginsError) -> SourceDescription? {
        switch rules.form {
        case .date:
            let builds = try read { () throws(TilesetsError) in try DatedAddress(rules.document).builds(before: now) }
            return try await archive(builds, unlike: known)
        case .index:
            let index = try await document(limit: BuildIndex.maxBytes)
            let builds = try read { () throws(TilesetsError) in
                try BuildIndex.builds(json: index.body, from: index.url, rules)
            }
            return try await archive(builds, unlike: known)
        case .text: return try await named(unlike: known)
        case .tileJSON: return try await tileJSON(unlike: known)
        case .archives: return try await archives()
        }
    }

    // MARK: - Forms

    /// The first of the builds whose archive is there.
    private func archive(
        _ builds: [SourceBuild], unlike known: KnownBuild?
    ) async throws(OriginsError) -> SourceDescription? {
        var missing: OriginsError?
        for build in builds {
            try checkIsNewer(build, than: known)
            let remote: RemoteFile
            do throws(OriginsError) { remote = try await open(build) } catch {
                guard error.saysGone(for: asking) else { throw error }
                missing = error
                continue
            }
            if let known, known.suffices, known.build == build, known.version == remote.version.text { return nil }
            var metadata = try await RemotePMTiles(remote).metadata()
            metadata.newest = TileSource(.remotePMTiles, build.address)
            metadata.build = build
            return SourceDescription(metadata: metadata, version: remote.version.text)
        }
        throw OriginsError(
            .unreachable,
            "Tileset '\(asking.id)': none of the \(builds.count) newest builds is there, from '\(builds.first?.name ?? "")' to '\(builds.last?.name ?? "")'. Check 'latest' of the tileset, or wait until the next build.",
            cause: missing)
    }

    /// Refuses to go back from the build of the last job, which is not there at the moment or was withdrawn.
    ///
    /// Names without a date, such as checksums, have no order.
    private func checkIsNewer(_ build: SourceBuild, than known: KnownBuild?) throws(OriginsError) {
        guard let known, let last = known.build.date, let date = build.date, date < last else { return }
        throw OriginsError(
            .unreachable,
            "Tileset '\(asking.id)': the newest build that is there is '\(build.name)', older than '\(known.build.name)' of the last job. If the newer one was withdrawn, run the schedule by hand."
        )
    }

    /// Opens the archive of a build, which must be as the index says.
    private func open(_ build: SourceBuild) async throws(OriginsError) -> RemoteFile {
        var tileset = try read { () throws(TilesetsError) in
            try file.forAsking(TileSource(.remotePMTiles, build.address))
        }
        tileset.build = build
        let remote = try await RemoteFile(tileset, environment: environment, budget: nil)
        if let difference = build.difference(length: remote.version.length, etag: remote.version.etag) {
            throw OriginsError(
                .badArchive,
                "The archive '\(remote.name)' \(difference): one of them is of another build. Try again when the index was updated\(build.md5 == nil ? "" : "; without 'md5' only the size is compared")."
            )
        }
        return remote
    }

    private func named(unlike known: KnownBuild?) async throws(OriginsError) -> SourceDescription? {
        let text = try await document(limit: BuildIndex.maxTextBytes)
        let address = rules.address ?? ""
        let isTiles = address.contains("{z}")
        let build = try read { () throws(TilesetsError) in
            let name = try BuildIndex.name(text: text.body)
            return try SourceBuild(
                name: name, address: address.replacing("{build}", with: name),
                document: isTiles ? SourceBuild.Document(.text, at: rules.document) : nil)
        }
        guard isTiles else { return try await archive([build], unlike: known) }
        var metadata = SourceMetadata()
        metadata.newest = TileSource(.templates, [build.address])
        return try tiles(build, metadata, key: text.key, unlike: known)
    }

    private func tileJSON(unlike known: KnownBuild?) async throws(OriginsError) -> SourceDescription? {
        let found = try await document(limit: TileJSONAccess.maxBytes)
        var metadata = try read { () throws(TilesetsError) in
            try SourceMetadata(tileJSON: found.body, from: found.url)
        }
        let templates = metadata.templates
        let build = try read { () throws(TilesetsError) in
            try SourceBuild(
                name: try BuildIndex.name(tileAddresses: templates), address: withoutQuery(templates.first ?? ""),
                document: SourceBuild.Document(.tileJSON, at: rules.document))
        }
        metadata.newest = TileSource(.templates, templates)
        return try tiles(build, metadata, key: found.key, unlike: known)
    }

    private func tiles(
        _ build: SourceBuild, _ metadata: SourceMetadata, key: String?, unlike known: KnownBuild?
    ) throws(OriginsError) -> SourceDescription? {
        try checkIsNewer(build, than: known)
        if let known, known.suffices, known.build == build { return nil }
        var metadata = metadata
        metadata.build = build
        return SourceDescription(metadata: metadata, version: build.version, key: key)
    }

    /// Archives with one version; what differs in their list shows when the tileset is compared.
    private func archives() async throws(OriginsError) -> SourceDescription {
        let index = try await document(limit: ArchiveIndexAccess.maxBytes)
        let parts = try read { () throws(TilesetsError) in
            try SourceMetadata(archiveIndex: index.body, from: index.url).archives
        }
        var tileset = asking
        tileset.source = TileSource(.archives, parts.map(\.text))
        var description = try await ArchivesAccess.description(of: tileset, environment: environment)
        description.metadata?.newest = tileset.source
        description.metadata?.build = try read { () throws(TilesetsError) in
            try SourceBuild(name: try BuildIndex.name(archiveIndex: index.body), address: rules.document)
        }
        description.key = index.key
        return description
    }

    // MARK: - Documents

    private func document(limit: Int) async throws(OriginsError) -> SourceDocument {
        var tileset = asking
        tileset.source = TileSource(.tileJSON, rules.document)
        return try await SourceDocument.fetch(
            with: tileset, "document of builds", limit: limit, environment: environment, fresh: true
        ) { $0 }
    }

    /// An address as people may see it: a query may hold a key.
    private func withoutQuery(_ address: String) -> String { String(address.prefix { $0 != "?" }) }

    private func read<Value>(_ body: () throws(TilesetsError) -> Value) throws(OriginsError) -> Value {
        do throws(TilesetsError) { return try body() } catch {
            let code: OriginsErrorCode = error.code == .badIndex || error.code == .badTileJSON ? .badArchive : .tileset
            throw OriginsError(
                code,
                error.message.contains("'\(asking.id)'") ? error.message : "Tileset '\(asking.id)': \(error.message)",
                cause: error)
        }
    }
}
