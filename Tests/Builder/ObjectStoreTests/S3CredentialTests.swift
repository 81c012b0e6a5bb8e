import Errors
import Foundation
import S3
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore

/// Credentials that change while a program runs.
struct S3CredentialTests {
    private let scratch = FileManager.default.temporaryDirectory.appending(path: "s3-keys-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true) }

    private var file: URL { scratch.appending(path: "credentials") }

    private func write(token: String, profile: String = "default") throws {
        let text = """
            # comment
            [other]
            aws_access_key_id = WRONG
            [\(profile)]
            aws_access_key_id = AKIA
            aws_secret_access_key=secret/with=sign
            ; aws_session_token = no
            aws_session_token = \(token)
            """
        try Data(text.utf8).write(to: file, options: .atomic)
    }

    private func bucket(_ url: String, _ environment: [String: String]) throws -> S3Bucket {
        try S3Bucket(
            try S3Location("s3://tiles"), at: try S3Endpoint(url),
            credentials: try S3CredentialProviders.find(in: environment), attempts: 1)
    }

    @Test func aRenewedTokenIsUsedByTheNextRequest() async throws {
        let valid = Mutex("one")
        let server = try ScriptedServer { request in
            let isValid = request.headers["x-amz-security-token"] == valid.withLock(\.self)
            return isValid && request.headers["authorization"]?.contains("Credential=AKIA/") == true
                ? .reply(200, body: Array("bytes".utf8))
                : .reply(403, body: Array("<Error><Code>ExpiredToken</Code></Error>".utf8))
        }
        defer { server.stop() }
        try write(token: "one")
        let bucket = try bucket(server.url, ["AWS_SHARED_CREDENTIALS_FILE": file.path])
        #expect(try await bucket.read("x") == Array("bytes".utf8))
        valid.withLock { $0 = "two" }
        let error = await #expect(throws: S3Error.self) { _ = try await bucket.read("x") }
        #expect(error?.code == .wrongSecret && error?.message.contains("ExpiredToken") == true)
        try write(token: "two")
        #expect(try await bucket.read("x") == Array("bytes".utf8))
        // A file that is being written, or is away, leaves the former credentials in use.
        try Data("[default]\naws_access".utf8).write(to: file)
        #expect(try await bucket.read("x") == Array("bytes".utf8))
        try FileManager.default.removeItem(at: file)
        #expect(try await bucket.read("x") == Array("bytes".utf8))
        valid.withLock { $0 = "three" }
        try write(token: "three")
        #expect(try await bucket.read("x") == Array("bytes".utf8))
    }

    @Test func variablesComeBeforeTheFileAndAProfileIsChosenByName() async throws {
        let seen = Mutex<[String]>([])
        let server = try ScriptedServer { request in
            seen.withLock { $0.append(request.headers["x-amz-security-token"] ?? "none") }
            return .reply(200)
        }
        defer { server.stop() }
        try write(token: "file", profile: "tiles")
        let variables = ["AWS_SHARED_CREDENTIALS_FILE": file.path, "AWS_PROFILE": "tiles"]
        _ = try await bucket(server.url, variables).read("x")
        let keys = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "variable"]
        _ = try await bucket(server.url, variables.merging(keys) { $1 }).read("x")
        #expect(seen.withLock(\.self) == ["file", "variable"])
    }

    /// An answer of STS.
    private static func keys(_ id: String, seconds: Double) -> ScriptedServer.Answer {
        let end = Date(timeIntervalSinceNow: seconds).formatted(.iso8601)
        return .reply(
            200,
            body: Array(
                """
                <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                  <AssumeRoleWithWebIdentityResult><Credentials>
                    <AccessKeyId>\(id)</AccessKeyId><SecretAccessKey>sec/ret+&amp;</SecretAccessKey>
                    <SessionToken>token-of-\(id)</SessionToken><Expiration>\(end)</Expiration>
                  </Credentials></AssumeRoleWithWebIdentityResult>
                </AssumeRoleWithWebIdentityResponse>
                """.utf8))
    }

    private func identity(_ url: String) -> [String: String] {
        [
            "AWS_WEB_IDENTITY_TOKEN_FILE": scratch.appending(path: "jwt").path,
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/tiles",
            "AWS_ENDPOINT_URL_STS": url, "AWS_ROLE_SESSION_NAME": "test",
        ]
    }

    @Test func aWebIdentityGetsKeysOnceAndNewOnesBeforeTheyExpire() async throws {
        let asked = Mutex<[String]>([])
        let used = Mutex<[String]>([])
        let server = try ScriptedServer { request in
            if request.method == "POST" {
                let number = asked.withLock { asked in
                    asked.append(String(decoding: request.body, as: UTF8.self))
                    return asked.count
                }
                // The first keys expire after eight seconds: they are renewed after six.
                return Self.keys("K\(number)", seconds: number == 1 ? 8 : 3_600)
            }
            used.withLock { $0.append(request.headers["x-amz-security-token"] ?? "none") }
            return .reply(200, body: Array("bytes".utf8))
        }
        defer { server.stop() }
        try Data("one.two-three\n".utf8).write(to: scratch.appending(path: "jwt"))
        let bucket = try bucket(server.url, identity(server.url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try await bucket.read("x") } }
            try await group.waitForAll()
        }
        #expect(asked.withLock(\.count) == 1, "requests at the same time share one question")
        #expect(Set(used.withLock(\.self)) == ["token-of-K1"])
        let form = asked.withLock { $0[0] }
        for part in [
            "Action=AssumeRoleWithWebIdentity", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Ftiles", "RoleSessionName=test",
            "WebIdentityToken=one.two-three",
        ] { #expect(form.contains(part), "\(form)") }
        // The platform has written another token meanwhile.
        try Data("four".utf8).write(to: scratch.appending(path: "jwt"))
        try await Eventually.holds("new keys are used") {
            _ = try await bucket.read("x")
            return used.withLock { $0.last == "token-of-K2" }
        }
        #expect(asked.withLock { $0.count == 2 && $0[1].contains("WebIdentityToken=four") })
    }

    @Test func aRefusedIdentityIsSaidWithoutTheToken() async throws {
        let server = try ScriptedServer { _ in
            .reply(
                400,
                body: Array(
                    "<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>Token expired</Message></Error></ErrorResponse>"
                        .utf8))
        }
        defer { server.stop() }
        try Data("SECRET".utf8).write(to: scratch.appending(path: "jwt"))
        let error = await #expect(throws: S3Error.self) {
            _ = try await bucket(server.url, identity(server.url)).read("x")
        }
        #expect(error?.code == .wrongSecret)
        #expect(error?.message.contains("ExpiredTokenException): Token expired") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("SECRET") == false)
        try FileManager.default.removeItem(at: scratch.appending(path: "jwt"))
        let missing = await #expect(throws: S3Error.self) {
            _ = try await bucket(server.url, identity(server.url)).read("x")
        }
        #expect(missing?.code == .missingSecret && missing?.message.contains("jwt") == true)
    }

    @Test func aRoleIsNeededAndATokenDoesNotLeaveThisMachineInPlainText() throws {
        var environment = identity("http://sts.example.org")
        #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: environment) }
        environment["AWS_ROLE_ARN"] = ""
        let error = #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: environment) }
        #expect(error?.message.contains("AWS_ROLE_ARN") == true)
    }

    @Test func aContainerGetsItsKeysFromItsServer() async throws {
        let server = try ScriptedServer { request in
            if request.path == "/role" {
                guard request.headers["authorization"] == "SECRET" else { return .reply(403) }
                let end = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
                return .reply(
                    200,
                    body: Array(
                        #"{"AccessKeyId":"C","SecretAccessKey":"s","Token":"of-container","Expiration":"\#(end)"}"#.utf8
                    ))
            }
            return request.headers["x-amz-security-token"] == "of-container"
                ? .reply(200, body: Array("bytes".utf8)) : .reply(403)
        }
        defer { server.stop() }
        var environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(server.url)/role", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "SECRET",
        ]
        #expect(try await bucket(server.url, environment).read("x") == Array("bytes".utf8))
        environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "wrong"
        let error = await #expect(throws: S3Error.self) { _ = try await bucket(server.url, environment).read("x") }
        #expect(error?.code == .wrongSecret && error?.message.contains("403") == true)
        environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://keys.example.org/role"
        #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: environment) }
    }

    /// A metadata service, version 2; `role` is `nil` for a machine without one.
    private static func machine(role: String?, of asked: Asked) throws -> ScriptedServer {
        try ScriptedServer { request in
            asked.paths.withLock { $0.append("\(request.method) \(request.path)") }
            let roles = "/latest/meta-data/iam/security-credentials/"
            if request.path == "/latest/api/token" {
                return request.method == "PUT" && request.headers["x-aws-ec2-metadata-token-ttl-seconds"] != nil
                    ? .reply(200, body: Array("SESSION".utf8)) : .reply(405)
            }
            guard request.path.hasPrefix(roles) else {
                return request.headers["x-amz-security-token"] == "of-machine"
                    ? .reply(200, body: Array("bytes".utf8)) : .reply(403)
            }
            guard request.headers["x-aws-ec2-metadata-token"] == "SESSION" else { return .reply(401) }
            guard let role else { return .reply(404) }
            guard request.path == roles + role else { return .reply(200, body: Array("\(role)\n".utf8)) }
            let end = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
            return .reply(
                200,
                body: Array(
                    #"{"Code":"Success","AccessKeyId":"M","SecretAccessKey":"s","Token":"of-machine","Expiration":"\#(end)"}"#
                        .utf8))
        }
    }

    /// What a server was asked for.
    private final class Asked: Sendable {
        let paths = Mutex<[String]>([])
    }

    @Test func aVirtualMachineGetsTheKeysOfItsRole() async throws {
        let asked = Asked()
        let server = try Self.machine(role: "tiles", of: asked)
        defer { server.stop() }
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "\(server.url)/"]
        let bucket = try bucket(server.url, environment)
        for _ in 0..<2 { #expect(try await bucket.read("x") == Array("bytes".utf8)) }
        let questions = asked.paths.withLock { $0.filter { $0.contains("/latest/") } }
        #expect(
            questions == [
                "PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/",
                "GET /latest/meta-data/iam/security-credentials/tiles",
            ], "the keys are asked for once")
        #expect(throws: S3Error.self) {
            try S3CredentialProviders.find(in: environment.merging(["AWS_EC2_METADATA_DISABLED": "true"]) { $1 })
        }
    }

    @Test func aMachineWithoutARoleAndAForeignServiceAreNamed() async throws {
        let server = try Self.machine(role: nil, of: Asked())
        defer { server.stop() }
        let error = await #expect(throws: S3Error.self) {
            _ = try await bucket(server.url, ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url]).read("x")
        }
        #expect(error?.code == .missingSecret && error?.message.contains("no role") == true)
        for address in ["http://metadata.example.org", "ftp://127.0.0.1", "127.0.0.1:80", "http://127.0.0.1/latest"] {
            let wrong = #expect(throws: S3Error.self) {
                try S3CredentialProviders.find(in: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": address])
            }
            #expect(wrong?.code == .plainRefused || wrong?.code == .badLocation, "\(address)")
        }
    }

    @Test func aPublicBucketIsReadWithoutASignature() async throws {
        let server = try ScriptedServer { request in
            request.headers["authorization"] == nil ? .reply(200, body: Array("open".utf8)) : .reply(403)
        }
        defer { server.stop() }
        let bucket = try bucket(server.url, ["AWS_NO_SIGN_REQUEST": "YES"])
        #expect(try await bucket.read("x") == Array("open".utf8))
    }

    @Test func theUsualFileIsInTheHomeFolder() throws {
        let folder = scratch.appending(path: ".aws")
        let home = ["HOME": scratch.path, "AWS_EC2_METADATA_DISABLED": "true"]
        #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: home) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(token: "t")
        try FileManager.default.moveItem(at: file, to: folder.appending(path: "credentials"))
        _ = try S3CredentialProviders.find(in: home)
    }

    @Test(arguments: [
        ([:], "AWS_ACCESS_KEY_ID"), (["AWS_ACCESS_KEY_ID": "a"], "AWS_SECRET_ACCESS_KEY"),
        (["AWS_PROFILE": "missing"], "no profile 'missing'"), (["AWS_PROFILE": "other"], "aws_secret_access_key"),
        (["AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials"], "/nonexistent/credentials"),
    ])
    func whatIsMissingIsNamed(environment: [String: String], says: String) throws {
        try write(token: "t")
        // A machine of Amazon that runs this test would have a role.
        var environment = environment.merging(["AWS_EC2_METADATA_DISABLED": "true"]) { $1 }
        if environment["AWS_PROFILE"] != nil { environment["AWS_SHARED_CREDENTIALS_FILE"] = file.path }
        let error = #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: environment) }
        #expect(error?.code == .missingSecret && error?.message.contains(says) == true)
        #expect(error?.message.contains("secret/with") == false)
    }
}
