import Errors
import S3
import Tilesets
import Transfer

/// The address of a remote archive, and how requests for it are made.
struct RemoteAddress: Sendable {
    private enum Kind: Sendable {
        case web(String)
        case s3(S3Endpoint, path: String, any S3CredentialProvider)
    }
    private let kind: Kind
    /// The address without secrets, for messages.
    let name: String

    /// Reads what the tileset names; endpoint of S3 (`AWS_REGION`, `AWS_ENDPOINT_URL`) and the provider of credentials come
    /// from the environment.
    ///
    /// - Throws: ``OriginsError`` `.tileset`.
    init(_ tileset: Tileset, environment: [String: String]) throws(OriginsError) {
        let filled: String
        do throws(TilesetsError) {
            filled = try tileset.address(environment: environment)
        } catch {
            throw OriginsError(.tileset, error.message, cause: error)
        }
        // A query may contain a secret under any name.
        let name = String(tileset.source.address.prefix { $0 != "?" })
        self.name = name
        guard S3Location.isMeant(by: filled) else {
            kind = .web(filled)
            return
        }
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        do throws(S3Error) {
            let location = try S3Location(filled)
            let endpoint = try S3Endpoint(variable("AWS_ENDPOINT_URL"), region: variable("AWS_REGION") ?? "us-east-1")
            kind = .s3(
                endpoint, path: "\(location.bucket)/\(location.prefix)",
                try S3CredentialProviders.find(in: environment))
        } catch {
            throw OriginsError(.tileset, "The archive '\(name)' cannot be requested: \(error.message)", cause: error)
        }
    }

    private init(_ kind: Kind, name: String) { (self.kind, self.name) = (kind, name) }

    /// The address with some more letters at its end, before its query.
    func with(_ ending: String) -> RemoteAddress {
        switch kind {
        case .web(let url):
            let end = url.firstIndex { $0 == "?" || $0 == "#" } ?? url.endIndex
            return RemoteAddress(.web(String(url[..<end]) + ending + url[end...]), name: name + ending)
        case .s3(let endpoint, let path, let provider):
            return RemoteAddress(.s3(endpoint, path: path + ending, provider), name: name + ending)
        }
    }

    /// A request for a part of the archive.
    ///
    /// - Throws: ``OriginsError`` `.tileset` when there are no credentials.
    func request(
        _ range: Range<UInt64>, tag: UInt64 = 0, conditions: [HeaderField] = []
    ) async throws(OriginsError) -> TransferRequest {
        var request: TransferRequest
        switch kind {
        case .web(let url): request = TransferRequest(tag: tag, url: url)
        case .s3(let endpoint, let path, let provider):
            let credentials: S3Credentials
            do throws(S3Error) { credentials = try await provider.current() } catch {
                throw OriginsError(
                    .tileset, "The archive '\(name)' cannot be requested: \(error.message)", cause: error)
            }
            request = TransferRequest(endpoint, path: path, credentials: credentials)
            request.tag = tag
        }
        request.headers += conditions
        request.range = range
        return request
    }
}
