internal import Errors
internal import Foundation
internal import Transfer

/// Keys from the server that a platform for containers has for each container: Amazon's ECS, Batch and Pod Identity.
struct ContainerCredentials: ConfiguredProvider {
    /// The server of relative addresses.
    private static let server = "http://169.254.170.2"
    /// Servers on the machine of the container that are asked without encryption, beside loopback.
    private static let hosts: Set = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "fd00:ec2::23"]

    private let keys: RenewedKeys

    /// - Returns: `nil` without `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` and `AWS_CONTAINER_CREDENTIALS_FULL_URI`.
    /// - Throws: ``S3Error`` `bad-endpoint`, `plain-refused`.
    init?(ifAskedBy environment: [String: String]) throws(S3Error) {
        let relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]
        guard let url = relative.map({ Self.server + $0 }) ?? environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else {
            return nil
        }
        guard let parts = URLComponents(string: url), let host = parts.host, relative?.hasPrefix("/") ?? true,
            ["http", "https"].contains(parts.scheme)
        else {
            throw S3Error(.badLocation, "'\(url)' is not the address of credentials of a container.")
        }
        guard parts.scheme == "https" || Self.hosts.contains(host) || S3Endpoint.isLoopback(host) else {
            throw S3Error(
                .plainRefused,
                "The credentials of AWS_CONTAINER_CREDENTIALS_FULL_URI would come from '\(host)' unencrypted.")
        }
        let file = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"].map { URL(filePath: $0) }
        let token = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        keys = RenewedKeys { try await Self.ask(url, host: host, tokenFile: file, token: token) }
    }

    /// The keys, new ones when it is time.
    ///
    /// - Throws: ``S3Error`` `missing-secret` for a token that cannot be read; `wrong-secret` when the server refuses it;
    ///   `unreachable`, `bad-answer`.
    func current() async throws(S3Error) -> S3Credentials { try await keys.current() }

    private static func ask(
        _ url: String, host: String, tokenFile file: URL?, token: String?
    ) async throws(S3Error) -> RenewedKeys.Keys {
        var headers: [HeaderField] = []
        if let file {
            let text = try RenewedKeys.token(in: file, variable: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
            headers = [HeaderField("Authorization", text)]
        } else if let token {
            headers = [HeaderField("Authorization", token)]
        }
        let request = TransferRequest(tag: 0, url: url, headers: headers)
        let (status, body) = try await RenewedKeys.answer(request, of: "The server of credentials at '\(host)'")
        guard status == 200 else {
            throw S3Error(
                status >= 500 ? .unreachable : .wrongSecret,
                "The server of credentials at '\(host)' answers with status \(status). Check the role of the container."
            )
        }
        return try KeysAnswer.keys(body, from: "The server of credentials at '\(host)'")
    }
}
