internal import Tiles

extension Message {
    /// Checks what the schema cannot express: digests, ranges, choices and list lengths.
    ///
    /// Readers need no further checks.
    ///
    /// - Throws: ``WireError`` `bad-value` or `too-many`.
    func checkValues() throws(WireError) {
        switch self {
        case .hello(let body):
            try Self.check(body.held.count, atMost: 1024, "held leases")
            try Self.check(body.shardFormats.count, atMost: 64, "shard formats")
            try Self.check(body.packageFormats.count, atMost: 64, "package formats")
            try Self.checkFormats(body.exports)
        case .ready(let body):
            try Self.check(Int(body.credit), atMost: 4096, "credits")
        case .progress(let body):
            try Self.check(body.leases.count, atMost: 1024, "leases")
            for use in body.origins { try Self.check(use) }
        case .fail(let body):
            try Self.check(body.lostShards.count, atMost: 100, "lost shards")
            for shard in body.lostShards { try Self.checkDigest(shard.count, type) }
        case .return(let body): try Self.check(body.tokens.count, atMost: 1024, "tokens")
        case .welcome(let body): try Self.check(body.adopted.count, atMost: 1024, "adopted leases")
        case .pong(let body):
            try Self.check(body.cancelled.count, atMost: 1024, "cancelled leases")
            for grant in body.grants { try Self.check(grant) }
        case .rateGrants(let body): for grant in body.grants { try Self.check(grant) }
        case .originOrder(let body): try Self.check(body.limit)
        case .putBegin(let body): try Self.checkDigest(body.digest.count, type)
        case .have(let body): try Self.checkDigest(body.digest.count, type)
        case .chunk(let body):
            try Self.checkDigest(body.digest.count, type)
            try Self.check(body.data.count, atMost: MessageType.maxChunkBytes, "bytes")
            guard !body.offset.addingReportingOverflow(UInt64(body.data.count)).overflow else {
                throw WireError(.badValue, "The chunk's end is beyond the largest file size.")
            }
        case .putEnd(let body): try Self.checkDigest(body.digest.count, type)
        case .stored(let body): try Self.checkDigest(body.digest.count, type)
        case .get(let body): try Self.checkDigest(body.digest.count, type)
        case .blobSize(let body): try Self.checkDigest(body.digest.count, type)
        case .blobRefused(let body): try Self.checkDigest(body.digest.count, type)
        case .deadOrder(let body): try Self.check(body.batches.count, atMost: 4096, "batches")
        case .ack(let body):
            guard body.digest.isEmpty || body.digest.count == 32 else { throw Self.badDigest("ack", body.digest.count) }
        case .commit(let body): try Self.check(body)
        case .offer(let body): try Self.check(body)
        case .submit(let body): try Self.check(body)
        case .jobs(let body): for job in body.jobs { try Self.check(job) }
        case .jobStatus(let body): try Self.check(body)
        default: break
        }
    }

    private static func checkDigest(_ count: Int, _ type: MessageType) throws(WireError) {
        guard count == 32 else { throw badDigest("\(type)", count) }
    }

    private static func checkOrigin(_ name: String) throws(WireError) {
        guard name.utf8.count <= 300 else { throw WireError(.badValue, "An origin's name has more than 300 bytes.") }
    }

    private static func checkVersion(_ version: String) throws(WireError) {
        guard version.utf8.count <= 512 else {
            throw WireError(.badValue, "A source's version has \(version.utf8.count) bytes; the limit is 512.")
        }
    }

    private static func check(_ use: PBOriginUse) throws(WireError) {
        try checkOrigin(use.origin)
        let held = use.held
        guard held.perSecond.isFinite, held.perSecond >= 0, held.burst.isFinite, held.burst >= 0 else {
            throw WireError(.badValue, "The reported share of '\(use.origin.prefix(80))' is not a rate.")
        }
    }

    private static func check(_ limit: PBOriginLimit) throws(WireError) {
        try checkOrigin(limit.origin)
        guard limit.perSecond.isFinite, limit.perSecond >= 0 else {
            throw WireError(.badValue, "The limit for '\(limit.origin.prefix(80))' is not a rate.")
        }
    }

    private static func check(_ grant: PBRateGrant) throws(WireError) {
        try checkOrigin(grant.origin)
        guard grant.perSecond.isFinite, grant.perSecond >= 0, grant.burst.isFinite, grant.burst >= 0,
            grant.bytesPerSecond.isFinite, grant.bytesPerSecond >= 0
        else {
            throw WireError(.badValue, "A grant for '\(grant.origin.prefix(80))' is not a rate.")
        }
    }

    private static func check(_ commit: PBCommit) throws(WireError) {
        switch commit.result {
        case .fetch(let result):
            guard result.shard.count == 32 else { throw badDigest("commit", result.shard.count) }
            try check(result.failures.count, atMost: 1000, "tile failures")
            try checkVersion(result.sourceVersion)
            for failure in result.failures { try check(failure) }
            let settled = result.stored.addingReportingOverflow(result.empty)
            guard !settled.overflow, !settled.partialValue.addingReportingOverflow(result.failed).overflow,
                result.failed >= UInt64(result.failures.count)
            else { throw WireError(.badValue, "The commit's tile counts do not add up.") }
        case .merge(let result):
            guard result.package.count == 32 else { throw badDigest("commit", result.package.count) }
            try checkFormats(result.files.map(\.format))
            for file in result.files where file.sha256.count != 32 { throw badDigest("commit", file.sha256.count) }
        case nil: throw WireError(.badValue, "The commit has no result.")
        }
    }

    private static func check(_ offer: PBOffer) throws(WireError) {
        switch offer.work {
        case .fetch(let work):
            guard let cell = work.cell.tileID else { throw badTile(work.cell) }
            try check(work.zoomMin, work.zoomMax)
            try checkOrigin(work.origin)
            for version in [work.sourceVersion, work.sourcesVersion] { try checkVersion(version) }
            for source in work.sources + work.base where source.count != 32 { throw badDigest("offer", source.count) }
            guard Int(work.zoomMax) >= cell.zoom else {
                throw WireError(
                    .badValue, "The offer's zooms \(work.zoomMin) to \(work.zoomMax) end above its cell \(cell).")
            }
        case .merge(let work):
            guard work.manifest.count == 32 else { throw badDigest("offer", work.manifest.count) }
        case nil: throw WireError(.badValue, "The offer has no work.")
        }
    }

    private static func check(_ submit: PBSubmit) throws(WireError) {
        try check(submit.zoomMin, submit.zoomMax)
        guard (0...1).contains(submit.allowedMissing) else {
            throw WireError(.badValue, "The allowed share of missing tiles is \(submit.allowedMissing), not 0 to 1.")
        }
        guard submit.tileset.count <= MessageType.maxTilesetBytes else {
            throw WireError(
                .tooLarge,
                "The tileset's description has \(submit.tileset.count) bytes; the limit is \(MessageType.maxTilesetBytes),"
                    + " because every offer contains it. Shorten its vector_layers.")
        }
        try checkFormats(submit.formats)
        try checkEdition(submit.edition, style: submit.style)
        for package in submit.packages { try checkFormats(package.formats) }
        for package in submit.packages where package.hasBounds {
            guard package.bounds.isFinite else {
                throw WireError(.badValue, "The bounds of package '\(package.id.prefix(80))' are not finite numbers.")
            }
        }
    }

    private static func check(_ status: PBJobStatus) throws(WireError) {
        for failure in status.failures { try check(failure) }
        for package in status.packages where !package.sha256.isEmpty && package.sha256.count != 32 {
            throw badDigest("jobStatus", package.sha256.count)
        }
        for file in status.packages.flatMap(\.files) where file.sha256.count != 32 {
            throw badDigest("jobStatus", file.sha256.count)
        }
    }

    /// Formats have short names, and each occurs once.
    static func checkFormats(_ formats: [String]) throws(WireError) {
        try check(formats.count, atMost: MessageType.maxFormats, "formats")
        for format in formats {
            let isName =
                (1...32).contains(format.utf8.count)
                && format.utf8.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
                }
            guard isName else { throw WireError(.badValue, "'\(format.prefix(40))' is not a format name.") }
        }
        guard Set(formats).count == formats.count else {
            throw WireError(.badValue, "The formats \(formats.joined(separator: ", ")) contain a duplicate.")
        }
    }

    static func checkEdition(_ edition: PBEdition, style: String) throws(WireError) {
        guard style.utf8.count <= 2048 else {
            throw WireError(.badValue, "The style's address has \(style.utf8.count) bytes; the limit is 2048.")
        }
        if let problem = edition.problem { throw WireError(.badValue, problem) }
    }

    private static func check(_ failure: PBTileFailure) throws(WireError) {
        guard failure.tile.tileID != nil else { throw badTile(failure.tile) }
    }

    private static func check(_ zoomMin: UInt32, _ zoomMax: UInt32) throws(WireError) {
        guard zoomMin <= zoomMax, zoomMax <= 22 else {
            throw WireError(.badValue, "The zooms \(zoomMin) to \(zoomMax) are not a range within 0 to 22.")
        }
    }

    private static func check(_ count: Int, atMost most: Int, _ what: String) throws(WireError) {
        guard count <= most else {
            throw WireError(.tooMany, "The message has \(count) \(what); the limit is \(most).")
        }
    }

    private static func badDigest(_ message: String, _ count: Int) -> WireError {
        WireError(.badValue, "The digest of the \(message) message has \(count) bytes instead of 32.")
    }

    private static func badTile(_ tile: PBTile) -> WireError {
        WireError(.badValue, "\(tile.zoom)/\(tile.x)/\(tile.y) is not a tile.")
    }
}
