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
