internal import Foundation
internal import Glibc

/// nginx on loopback with TLS, HTTP/2 where the client asks for it, and a certificate of its own.
///
/// Every answer is 200 with the protocol and the number of the connection as its body; below `/empty/` it is 404.
public final class NginxTLS {
    /// Thrown when a tool fails; holds what it said.
    public struct Failure: Error {
        /// The tool's words.
        public let said: String
    }

    private static let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    private let folder: URL
    private var nginx: pid_t = 0
    /// `https://127.0.0.1:port`.
    public let url: String

    /// Why it cannot run here, or `nil`.
    public static var absence: String? {
        let lacking = ["nginx", "openssl"].filter { tool($0) == nil }
        return lacking.isEmpty ? nil : "\(lacking.joined(separator: " and ")) is absent"
    }

    /// The path of the PEM file that makes a client trust the server.
    public var certificate: String { folder.appendingPathComponent("cert.pem").path }

    /// Makes a certificate for 127.0.0.1 and starts; connections are taken a moment later, so clients have to retry.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nginx-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A port that was free a moment ago.
        let probe = try ScriptedServer { _ in .silence }
        let port = probe.port
        probe.stop()
        url = "https://127.0.0.1:\(port)"
        try Self.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                folder.appendingPathComponent("key.pem").path, "-out", certificate,
            ])
        let text = """
            daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/error.log;
            events { worker_connections 64; }
            http {
                access_log off; client_body_temp_path \(folder.path)/a; proxy_temp_path \(folder.path)/b;
                fastcgi_temp_path \(folder.path)/c; uwsgi_temp_path \(folder.path)/d; scgi_temp_path \(folder.path)/e;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(certificate); ssl_certificate_key \(folder.path)/key.pem;
                    location / { return 200 "$server_protocol $connection"; }
                    location /empty/ { return 404; }
                }
            }
            """
        let configuration = folder.appendingPathComponent("nginx.conf")
        try Data(text.utf8).write(to: configuration)
        nginx = try Self.spawn("nginx", ["-c", configuration.path, "-e", "\(folder.path)/error.log"])
    }

    deinit { stop() }

    /// Ends nginx and removes its folder; idempotent.
    public func stop() {
        if nginx > 0 {
            // Test threads block SIGTERM, and a child inherits that.
            kill(nginx, SIGKILL)
            _ = Self.wait(nginx)
            nginx = 0
        }
        // Gone already is fine.
        do { try FileManager.default.removeItem(at: folder) } catch {}
    }

    private static func tool(_ name: String) -> URL? {
        folders.map { URL(fileURLWithPath: "\($0)/\(name)") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }

    private static func run(_ name: String, _ arguments: [String]) throws {
        let status = wait(try spawn(name, arguments))
        guard status == 0 else { throw Failure(said: "\(name) ended with status \(status)") }
    }

    /// Not Foundation's `Process`: its `waitUntilExit` needs a run loop, and the tests' threads have none.
    private static func spawn(_ name: String, _ arguments: [String]) throws -> pid_t {
        guard let path = tool(name)?.path else { throw Failure(said: "\(name) is absent") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [1, 2] as [Int32] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, path, &actions, nil, &words, nil)
        guard code == 0 else { throw Failure(said: "\(name): \(String(cString: strerror(code)))") }
        return pid
    }

    private static func wait(_ pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
