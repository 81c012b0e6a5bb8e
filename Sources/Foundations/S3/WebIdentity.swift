internal import Errors
internal import Foundation
internal import Transfer

/// Keys for the token of a platform: `AssumeRoleWithWebIdentity` of STS, as in Amazon's Kubernetes and MinIO.
///
/// The platform writes a new token into the file before the old one expires; it is read for each question.
struct WebIdentity: ConfiguredProvider {
    private static let variable = "AWS_WEB_IDENTITY_TOKEN_FILE"

    private let keys: RenewedKeys

    /// - Returns: `nil` without `AWS_WEB_IDENTITY_TOKEN_FILE`.
    /// - Throws: ``S3Error`` `missing-secret` without `AWS_ROLE_ARN`; `bad-endpoint`, `plain-refused` for that of STS.
    init?(ifAskedBy environment: [String: String]) throws(S3Error) {
        guard let path = environment[Self.variable] else { return nil }
        guard let role = environment["AWS_ROLE_ARN"] else {
            throw S3Error(
                .missingSecret, "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not: set the role to take.")
        }
        let file = URL(filePath: path, directoryHint: .notDirectory)
        let session = environment["AWS_ROLE_SESSION_NAME"] ?? "packhorse-\(getpid())"
        let region = environment["AWS_REGION"] ?? "us-east-1"
        let endpoint = try S3Endpoint(
            environment["AWS_ENDPOINT_URL_STS"] ?? environment["AWS_ENDPOINT_URL"]
                ?? "https://sts.\(region).amazonaws.com", region: region)
        keys = RenewedKeys { try await Self.ask(endpoint, token: file, role: role, session: session) }
    }

    /// The keys, new ones when it is time.
    ///
    /// - Throws: ``S3Error`` `missing-secret` for a token that cannot be read; `wrong-secret` when STS refuses it;
    ///   `unreachable`, `bad-answer`.
    func current() async throws(S3Error) -> S3Credentials { try await keys.current() }

    private static func ask(
        _ endpoint: S3Endpoint, token file: URL, role: String, session: String
    ) async throws(S3Error) -> RenewedKeys.Keys {
        let token = try RenewedKeys.token(in: file, variable: variable)
        var request = TransferRequest(
            tag: 0, url: endpoint.url + "/", headers: [HeaderField("Content-Type", "application/x-www-form-urlencoded")]
        )
        request.method = .post
        let form = S3Text.query([
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", session), ("WebIdentityToken", token),
        ])
        request.upload = .bytes(Array(form.dropFirst().utf8))
        let (status, body) = try await RenewedKeys.answer(request, of: "STS at \(endpoint)")
        let answer = S3Document(body)
        func value(_ name: String) -> String? {
            let text = answer.text(name)?.trimmingCharacters(in: .whitespacesAndNewlines)
            return text?.isEmpty == false ? text : nil
        }
        guard status == 200 else {
            let code = value("Code") ?? "status \(status)"
            let message = value("Message").map { ": \($0.prefix(200))" } ?? ""
            throw S3Error(
                status >= 500 ? .unreachable : .wrongSecret,
                "STS at \(endpoint) refuses the token of '\(file.path)' for the role '\(role)' (\(code))\(message)")
        }
        guard let expires = value("Expiration").flatMap(RenewedKeys.date) else {
            throw S3Error(.badAnswer, "STS at \(endpoint) answers without keys and their end.")
        }
        let values = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map(value)
        return try RenewedKeys.Keys(values, expires: expires, of: "the answer of STS")
    }
}
