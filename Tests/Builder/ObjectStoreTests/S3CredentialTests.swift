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
        #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: ["HOME": scratch.path]) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(token: "t")
        try FileManager.default.moveItem(at: file, to: folder.appending(path: "credentials"))
        _ = try S3CredentialProviders.find(in: ["HOME": scratch.path])
    }

    @Test(arguments: [
        ([:], "AWS_ACCESS_KEY_ID"), (["AWS_ACCESS_KEY_ID": "a"], "AWS_SECRET_ACCESS_KEY"),
        (["AWS_PROFILE": "missing"], "no profile 'missing'"), (["AWS_PROFILE": "other"], "aws_secret_access_key"),
        (["AWS_SHARED_CREDENTIALS_FILE": "/nonexistent/credentials"], "/nonexistent/credentials"),
    ])
    func whatIsMissingIsNamed(environment: [String: String], says: String) throws {
        try write(token: "t")
        var environment = environment
        if environment["AWS_PROFILE"] != nil { environment["AWS_SHARED_CREDENTIALS_FILE"] = file.path }
        let error = #expect(throws: S3Error.self) { try S3CredentialProviders.find(in: environment) }
        #expect(error?.code == .missingSecret && error?.message.contains(says) == true)
        #expect(error?.message.contains("secret/with") == false)
    }
}
