internal import StyleFormat
internal import Transfer

/// The one client of a collection.
struct PackFetcher {
    let client: TransferClient
    let window: Int

    init(_ policy: ReferencePolicy, _ options: StylePackOptions) throws(StylesError) {
        var transfer = options.transfer
        transfer.maxBodyBytes = StyleResource.Kind.allCases.map(\.maxBytes).max() ?? 0
        let given = transfer.redirectRefusal
        transfer.redirectRefusal = { target in
            if let refusal = given(target) { return refusal }
            do throws(StylesError) {
                try policy.check(target)
                return nil
            } catch {
                return "a redirect was refused: \(error.message)"
            }
        }
        do throws(TransferError) {
            client = try TransferClient(transfer)
        } catch {
            throw StylesError(.unreachable, error.message, cause: error)
        }
        window = max(4, transfer.concurrency * 2)
    }

    func one(_ url: String) async -> Result<TransferResponse, TransferError> {
        do throws(TransferError) {
            return .success(try await client.get(url))
        } catch {
            return .failure(error)
        }
    }

    /// Validators longer than any real one are dropped.
    static func short(_ text: String?) -> String? {
        text.flatMap { (1...512).contains($0.utf8.count) ? $0 : nil }
    }

    /// The conditional headers for a known body; empty if the server sent no validators.
    static func conditions(_ known: StylePackIndex.Entry?) -> [HeaderField] {
        if let etag = known?.etag { return [HeaderField("If-None-Match", etag)] }
        return known?.modified.map { [HeaderField("If-Modified-Since", $0)] } ?? []
    }
}
