import Errors
import S3
import Tilesets
import Transfer

/// The address of a remote archive, and how requests for it are made.
struct RemoteAddress: Sendable {
    private enum Kind: Sendable {
        case web(String)
        case s3(S3Endpoint, path: String, S3Credentials)
    }
    private let kind: Kind
    /// The address without secrets, for messages.
    let name: String

    /// Reads what the tileset names; credentials and the endpoint of S3 come from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`).
    ///
    /// - Throws: ``OriginsError`` `.tileset`.
    init(_ tileset: Tileset, environment: [String: String]) throws(OriginsError) {
        let filled: String?
        do throws(TilesetsError) {
            filled = try tileset.archiveURL(environment: environment)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        guard case .remotePMTiles(let name) = tileset.source, let filled else {
            throw OriginsError(.tileset, "Tileset '\(tileset.id)' has no archive on a web server.")
        }
        // A query may contain a secret under any name.
        self.name = String(name.prefix { $0 != "?" })
        guard S3Location.isMeant(by: filled) else {
            kind = .web(filled)
            return
        }
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        do throws(S3Error) {
            let location = try S3Location(filled)
            let endpoint = try S3Endpoint(variable("AWS_ENDPOINT_URL"), region: variable("AWS_REGION") ?? "us-east-1")
            kind = .s3(
                endpoint, path: "\(location.bucket)/\(location.prefix)", try S3Credentials(environment: environment))
        } catch {
            throw OriginsError(.tileset, "The archive '\(name)' cannot be requested: \(error.message)", cause: error)
        }
    }

    /// A request for a part of the archive.
    func request(_ range: Range<UInt64>, tag: UInt64 = 0, conditions: [HeaderField] = []) -> TransferRequest {
        var request: TransferRequest
        switch kind {
        case .web(let url): request = TransferRequest(tag: tag, url: url)
        case .s3(let endpoint, let path, let credentials):
            request = TransferRequest(endpoint, path: path, credentials: credentials)
            request.tag = tag
        }
        request.headers += conditions
        request.range = range
        return request
    }
}
