import Foundation

/// A real S3 server for tests, started once for all of them: OpenStack Swift by way of `ops/s3/serve.py`.
///
/// Ends with the test process by itself.
public final class S3Server: Sendable {
    /// Where it listens.
    public let endpoint: String
    /// The same server, with a clock two hours ahead.
    public let skewedEndpoint: String
    /// The one bucket that is there.
    public static let bucket = "packhorse"
    /// The credentials it takes, as a process has them.
    public static let environment = ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"]

    /// Why there is no server for the tests here, or `nil` when there is one.
    ///
    /// `make s3-test` sets PACKHORSE_S3_TEST, and then there must be one.
    public static let obstacle: String? = {
        let package = "/usr/lib/python3/dist-packages/swift/common/middleware/s3api/s3api.py"
        guard ProcessInfo.processInfo.environment["PACKHORSE_S3_TEST"] == nil,
            !FileManager.default.fileExists(atPath: package)
        else { return nil }
        let reason = "OpenStack Swift is not installed ('ops/s3-server install' brings it)"
        FileHandle.standardError.write(Data("S3 tests are skipped: \(reason)\n".utf8))
        return reason
    }()

    /// The server; the first caller starts it.
    ///
    /// - Throws: ``StartFailed`` with what it said instead of starting.
    public static func shared() async throws -> S3Server { try await starting.value }

    /// A task, so that waiting callers do not block a thread.
    private static let starting = Task { try await S3Server() }

    /// Thrown when it does not start.
    public struct StartFailed: Error, CustomStringConvertible {
        /// What it said.
        public let description: String
    }

    private init() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "packhorse-s3-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let said = folder.appending(path: "said")
        try Data().write(to: said)
        let output = try FileHandle(forWritingTo: said)
        let process = Process()
        // Debian's own Python: the package is its, whatever python3 comes first on PATH.
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            Self.ops.appending(path: "s3/serve.py").path, folder.path, "--bucket", Self.bucket, "--remove",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        var words = ""
        for _ in 0..<600 {
            // The file does not exist before the server writes it.
            words = (try? String(contentsOf: said, encoding: .utf8)) ?? ""
            if words.hasSuffix("\n") && words.contains("ready ") || !process.isRunning { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        let urls =
            words.split(separator: "\n").first { $0.hasPrefix("ready ") }?.split(separator: " ").dropFirst() ?? []
        guard let endpoint = urls.first, let skewed = urls.last else {
            if process.isRunning { process.terminate() }
            throw StartFailed(description: "The S3 server did not start: \(words)")
        }
        self.endpoint = String(endpoint)
        skewedEndpoint = String(skewed)
    }

    /// The project's `ops` folder, found from this file.
    private static let ops = Checkout.folder.appending(path: "ops")
}
