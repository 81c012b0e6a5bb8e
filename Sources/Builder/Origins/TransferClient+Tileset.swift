import Errors
import Tilesets
import Transfer

extension TransferClient {
    /// Creates a client with the limits of the tileset.
    ///
    /// - Parameter onAnswer: See `TransferOptions`.
    static func open(
        _ tileset: Tileset, environment: [String: String], budget: OriginBudget?,
        onAnswer: (@Sendable (Duration) -> Void)? = nil
    ) throws(OriginsError) -> TransferClient {
        var options = TransferOptions()
        options.budget = budget
        options.onAnswer = onAnswer
        do throws(TilesetsError) {
            options.headers = try tileset.resolvedHeaders(environment: environment).map {
                HeaderField($0.name, $0.value)
            }
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        options.concurrency = tileset.politeness.concurrency
        options.requestsPerSecond = tileset.politeness.requestsPerSecond
        options.userAgent = tileset.politeness.effectiveUserAgent
        options.connectTimeout = .seconds(tileset.politeness.connectSeconds)
        options.totalTimeout = .seconds(tileset.politeness.totalSeconds)
        options.stallTimeout = .seconds(tileset.politeness.stallSeconds)
        options.http2 = tileset.http2
        options.maxBodyBytes = tileset.maxTileBytes
        options.certificateFile = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        // A redirect must not lead to a host that the tileset may not use.
        options.redirectRefusal = { target in
            do throws(TilesetsError) {
                try HostPolicy.check(target)
                return nil
            } catch {
                return "a redirect was refused: \(error.message)"
            }
        }
        do throws(TransferError) {
            return try TransferClient(options)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
    }
}
