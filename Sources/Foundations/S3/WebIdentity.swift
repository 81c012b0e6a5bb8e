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
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let path = variable(Self.variable) else { return nil }
        guard let role = variable("AWS_ROLE_ARN") else {
            throw S3Error(
                .missingSecret, "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not: set the role to take.")
        }
        let file = URL(filePath: path, directoryHint: .notDirectory)
        let session = variable("AWS_ROLE_SESSION_NAME") ?? "packhorse-\(getpid())"
        let region = variable("AWS_REGION") ?? "us-east-1"
        let endpoint = try S3Endpoint(
            variable("AWS_ENDPOINT_URL_STS") ?? variable("AWS_ENDPOINT_URL") ?? "https://sts.\(region).amazonaws.com",
            region: region)
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
        let (status, text) = try await RenewedKeys.answer(request, of: "STS at \(endpoint)")
        guard status == 200 else {
            let code = value("Code", of: text) ?? "status \(status)"
            let message = value("Message", of: text).map { ": \($0.prefix(200))" } ?? ""
            throw S3Error(
                status >= 500 ? .unreachable : .wrongSecret,
                "STS at \(endpoint) refuses the token of '\(file.path)' for the role '\(role)' (\(code))\(message)")
        }
        guard let expires = value("Expiration", of: text).flatMap(RenewedKeys.date) else {
            throw S3Error(.badAnswer, "STS at \(endpoint) answers without keys and their end.")
        }
        let values = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map { value($0, of: text) }
        return try RenewedKeys.Keys(values, expires: expires, of: "the answer of STS")
    }

    /// The text of the first element of a name.
    private static func value(_ name: String, of xml: String) -> String? {
        guard let start = xml.firstRange(of: "<\(name)>"),
            let end = xml[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        let text = xml[start.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty
            ? nil
            : text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
                .replacing("&amp;", with: "&")
    }
}
