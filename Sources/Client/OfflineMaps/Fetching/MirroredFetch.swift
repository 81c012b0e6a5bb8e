internal import Digests
internal import Files
internal import Foundation

/// Downloads files of the catalog from its addresses in turn.
///
/// What an address has given goes on at the next one, and the digest proves the whole. What is reported when no address
/// has the file is what the first one said.
struct MirroredFetch: Sendable {
    typealias Transform = @Sendable (ResourceRequest) async -> ResourceRequest

    let servers: CatalogServers
    let fetcher: any Fetcher
    let transform: Transform?

    /// The file that the list names.
    struct Wanted: Sendable {
        /// The part file.
        var part: URL
        /// Exact bytes.
        var size: UInt64
        /// SHA-256, 64 lower-case hexadecimal digits.
        var sha256: String
    }

    /// Why the addresses failed; the first one counts, and one that gave wrong bytes only where no other was asked.
    private struct Reasons {
        private var first: (rank: Int, error: FetchError)?
        private var wrong: FetchError?

        mutating func add(_ error: FetchError, from place: CatalogServers.Place) {
            if error.cause == .badBytes || error.hasOtherSize {
                wrong = wrong ?? error
            } else if place.rank < first?.rank ?? .max {
                first = (place.rank, error)
            }
        }

        func error(_ address: URL) -> FetchError {
            first?.error ?? wrong ?? FetchError(.connection, "'\(address.path)' was asked of no address.")
        }
    }

    // MARK: Bodies

    /// Downloads a body into memory.
    ///
    /// No address is refused for other bytes: a document that publications replace may be newer than the list.
    ///
    /// - Parameter isRight: Whether the bytes are those of the list.
    /// - Throws: what the first address answered; `bad-bytes` when all have other bytes than those of the list.
    func body(
        _ request: ResourceRequest, limit: Int, _ isRight: @Sendable (Data) -> Bool
    ) async throws(FetchError) -> FetchedBody {
        var reasons = Reasons()
        for place in servers.places(of: request.url) {
            do throws(FetchError) {
                let answer = try await fetcher.body(await changed(request, to: place), limit: limit)
                servers.worked(place)
                if isRight(answer.body) { return answer }
                reasons.add(FetchError(.badBytes, "'\(place.url.path)' is not the file of the catalog."), from: place)
            } catch {
                guard !Task.isCancelled else { throw error }
                servers.failed(place, error)
                reasons.add(error, from: place)
            }
        }
        throw reasons.error(request.url)
    }

    // MARK: Files

    /// Downloads into a part file, from what it has.
    ///
    /// With one address, its answer is the result, as ``Fetcher`` gives it. With several, the digest is compared, and wrong
    /// bytes are asked of another address until one is left.
    func file(
        _ request: ResourceRequest, _ wanted: Wanted, progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        while true {
            let places = servers.places(of: request.url)
            guard places.count > 1 else {
                var request = request
                if let place = places.first { request = await changed(request, to: place) }
                servers.note(nil, of: wanted.sha256)
                return try await fetcher.file(
                    request, into: wanted.part, from: size(wanted), limit: wanted.size, progress: progress)
            }
            let file = try await fill(request, wanted, from: places, progress: progress)
            guard try await !isRight(wanted) else {
                servers.note(nil, of: wanted.sha256)
                return file
            }
            blame(wanted)
        }
    }

    /// Asks the addresses until the part file has all bytes.
    private func fill(
        _ request: ResourceRequest, _ wanted: Wanted, from places: [CatalogServers.Place],
        progress: @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> FetchedFile {
        var reasons = Reasons()
        var givers = servers.givers(of: wanted.sha256, hasBytes: size(wanted) > 0)
        var order = places
        if givers.isSingle {
            // Who has given the first bytes goes on.
            order = places.filter { $0.server == givers.only } + places.filter { $0.server != givers.only }
        }
        for place in order {
            if givers.isSingle, givers.only != place.server, size(wanted) > 0 {
                try remove(wanted)
                (givers.servers, givers.hasUnknown) = ([], false)
            }
            let start = size(wanted)
            if start == wanted.size { return FetchedFile(status: 206, size: start) }
            let result: Result<FetchedFile, FetchError>
            do throws(FetchError) {
                result = .success(
                    try await fetcher.file(
                        await changed(request, to: place), into: wanted.part, from: start, limit: wanted.size,
                        progress: progress))
            } catch { result = .failure(error) }
            let hasGiven = size(wanted) != start || Self.hasBegun(result)
            if hasGiven { givers.servers.insert(place.server) }
            servers.note(givers, of: wanted.sha256)
            switch result {
            case .success(let file) where size(wanted) == wanted.size:
                servers.worked(place)
                return file
            case .success(let file):
                try takeBack(wanted, to: file.status == 206 && !file.startedOver ? start : 0)
                servers.refuse(place.server, .wrongBytes)
                reasons.add(
                    FetchError(.badBytes, "'\(place.url.path)' has another size than the catalog says."), from: place)
            case .failure(let error):
                guard !Task.isCancelled, error.cause != .storage else { throw error }
                if error.hasOtherSize {
                    try takeBack(wanted, to: error.status == 206 ? start : 0)
                    servers.refuse(place.server, .wrongBytes)
                }
                servers.failed(place, error)
                reasons.add(error, from: place)
                // What one address gives must not be lost to one that gives nothing.
                if givers.isSingle, size(wanted) > start { throw error }
            }
        }
        throw reasons.error(request.url)
    }

    /// Removes wrong bytes.
    ///
    /// When one address gave all of them, it is not asked again; otherwise the next bytes come from one
    /// address alone.
    private func blame(_ wanted: Wanted) {
        var givers = servers.givers(of: wanted.sha256, hasBytes: true)
        if let liar = givers.only { servers.refuse(liar, .wrongBytes) } else { givers.isSingle = true }
        (givers.servers, givers.hasUnknown) = ([], false)
        servers.note(givers, of: wanted.sha256)
        // Without it the next address finds a whole file, which is compared again.
        try? remove(wanted)
    }

    private func changed(_ request: ResourceRequest, to place: CatalogServers.Place) async -> ResourceRequest {
        var request = request
        request.url = place.url
        return await request.changed(by: transform)
    }

    private func isRight(_ wanted: Wanted) async throws(FetchError) -> Bool {
        do {
            return try await FileWork.run {
                let found = try Digest.ofFile(wanted.part)
                return found.size == wanted.size && found.digest.hex == wanted.sha256
            }
        } catch { throw FetchError(.storage, "'\(wanted.part.path)' cannot be read: \(error)") }
    }

    /// Bytes of the part file that can be gone on from; none when it has more than the file.
    private func size(_ wanted: Wanted) -> UInt64 {
        let there = StoreScan.size(wanted.part) ?? 0
        return there > wanted.size ? 0 : there
    }

    /// Cuts off what an address has given.
    private func takeBack(_ wanted: Wanted, to size: UInt64) throws(FetchError) {
        guard size > 0 else { return try remove(wanted) }
        let file = PartFile(wanted.part)
        try file.begin(at: min(size, self.size(wanted)))
        try file.end()
    }

    private func remove(_ wanted: Wanted) throws(FetchError) {
        guard unlink(wanted.part.path) != 0, errno != ENOENT else { return }
        throw FetchError(.storage, "'\(wanted.part.path)' cannot be removed: \(String(cString: strerror(errno)))")
    }

    /// Whether an answer with a body had begun, so that the part file may have bytes of it.
    private static func hasBegun(_ result: Result<FetchedFile, FetchError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): 200...299 ~= error.status ?? 0
        }
    }
}

extension FetchError {
    /// Whether a body was announced or sent that is larger than the list says.
    var hasOtherSize: Bool { cause == .tooBig && 200...299 ~= status ?? 0 }
}
