internal import Errors
internal import Foundation
internal import Transfer

/// Keys of the role of a virtual machine: Amazon's instance metadata service, version 2.
///
/// A session token comes first, then the name of the role, then its keys
/// (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html). The service is asked only
/// where there is one, so that no other machine waits for an address that does not answer.
struct InstanceMetadata: ConfiguredProvider {
    private static let variable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
    /// The address of the service on every machine of Amazon.
    private static let server = "http://169.254.169.254"
    /// Addresses that only the machine itself reaches, beside loopback.
    private static let hosts: Set = ["169.254.169.254", "[fd00:ec2::254]", "fd00:ec2::254"]
    /// The maker of a machine of Amazon, as its firmware says it.
    private static let vendorFile = URL(filePath: "/sys/devices/virtual/dmi/id/sys_vendor")
    private static let vendor = "Amazon EC2"
    /// How long a session token is valid; it is used for one question.
    ///
    /// Unit: seconds.
    private static let tokenLife = "60"
    private static let roles = "/latest/meta-data/iam/security-credentials/"

    private let keys: RenewedKeys

    /// - Returns: `nil` without `AWS_EC2_METADATA_SERVICE_ENDPOINT` on a machine that is not Amazon's, and with
    ///   `AWS_EC2_METADATA_DISABLED=true`.
    /// - Throws: ``S3Error`` `bad-endpoint`, `plain-refused`.
    init?(ifAskedBy environment: [String: String]) throws(S3Error) {
        guard environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else { return nil }
        guard environment[Self.variable] != nil || Self.isOfAmazon else { return nil }
        var url = environment[Self.variable] ?? Self.server
        while url.hasSuffix("/") { url.removeLast() }
        guard let parts = URLComponents(string: url), let host = parts.host,
            ["http", "https"].contains(parts.scheme), parts.path.isEmpty, parts.query == nil
        else {
            throw S3Error(
                .badLocation,
                "\(Self.variable) is '\(url)', which is not the address of a metadata service. Example: \(Self.server)")
        }
        guard parts.scheme == "https" || Self.hosts.contains(host) || S3Endpoint.isLoopback(host) else {
            throw S3Error(.plainRefused, "The credentials of \(Self.variable) would come from '\(host)' unencrypted.")
        }
        let base = url
        keys = RenewedKeys { try await Self.ask(base, name: "The metadata service at '\(host)'") }
    }

    /// Whether the firmware of this machine names Amazon.
    private static var isOfAmazon: Bool {
        // A machine without the file is another one.
        let text = try? String(contentsOf: vendorFile, encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) == vendor
    }

    /// The keys, new ones when it is time.
    ///
    /// - Throws: ``S3Error`` `missing-secret` for a machine without a role; `wrong-secret` when the service refuses;
    ///   `unreachable`, `bad-answer`.
    func current() async throws(S3Error) -> S3Credentials { try await keys.current() }

    private static func ask(_ base: String, name: String) async throws(S3Error) -> RenewedKeys.Keys {
        func answer(
            _ path: String, by method: TransferMethod, with header: HeaderField
        ) async throws(S3Error) -> (status: Int, body: [UInt8]) {
            var request = TransferRequest(tag: 0, url: base + path, headers: [header])
            request.method = method
            if method == .put { request.upload = .bytes([]) }
            let answer = try await RenewedKeys.answer(request, of: name)
            guard answer.status == 200 || answer.status == 404 else {
                throw S3Error(
                    answer.status >= 500 ? .unreachable : .wrongSecret,
                    "\(name) answers \(path) with status \(answer.status). Check the role of the machine, and in a container the limit of hops (HttpPutResponseHopLimit: 2)."
                )
            }
            return answer
        }
        func word(_ body: [UInt8]) throws(S3Error) -> String {
            let line = String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
            guard !line.isEmpty, line.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw S3Error(.badAnswer, "\(name) answers without a token or the name of a role.")
            }
            return String(line)
        }
        let ttl = HeaderField("X-aws-ec2-metadata-token-ttl-seconds", tokenLife)
        let token = HeaderField(
            "X-aws-ec2-metadata-token", try word(try await answer("/latest/api/token", by: .put, with: ttl).body))
        let list = try await answer(roles, by: .get, with: token)
        guard list.status == 200 else {
            throw S3Error(
                .missingSecret, "\(name) has no role for this machine. Give the machine a role, or set keys for S3.")
        }
        let role = try word(list.body)
        return try KeysAnswer.keys(try await answer(roles + role, by: .get, with: token).body, from: name)
    }
}
