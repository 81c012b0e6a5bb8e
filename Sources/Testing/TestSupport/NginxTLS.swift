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

    /// Makes a certificate for 127.0.0.1 and starts; when it returns, connections are taken.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nginx-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(folder.path)/key.pem",
                "-out", "\(folder.path)/cert.pem",
            ])
        for _ in 0..<10 {
            // The port was free a moment ago; if another process took it, nginx ends at once.
            let probe = try ScriptedServer { _ in .silence }
            let port = probe.port
            probe.stop()
            if let started = try Self.start(in: folder, port: port) {
                (nginx, url) = (started, "https://127.0.0.1:\(port)")
                return
            }
        }
        throw Failure(said: "nginx does not start; see \(folder.path)/error.log")
    }

    /// Starts nginx and waits until it listens; `nil` when it ended instead.
    private static func start(in folder: URL, port: Int) throws -> pid_t? {
        let path = folder.path
        let text = """
            daemon off; master_process off; pid \(path)/pid; error_log \(path)/error.log;
            events { worker_connections 64; }
            http {
                access_log off; client_body_temp_path \(path)/a; proxy_temp_path \(path)/b;
                fastcgi_temp_path \(path)/c; uwsgi_temp_path \(path)/d; scgi_temp_path \(path)/e;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(path)/cert.pem; ssl_certificate_key \(path)/key.pem;
                    location / { return 200 "$server_protocol $connection"; }
                    location /empty/ { return 404; }
                }
            }
            """
        let configuration = folder.appendingPathComponent("nginx.conf")
        try Data(text.utf8).write(to: configuration)
        let process = try spawn("nginx", ["-c", configuration.path, "-e", "\(path)/error.log"])
        // nginx writes its pid after it has bound its port; a minute is for a busy machine.
        for _ in 0..<6_000 {
            var status: Int32 = 0
            if waitpid(process, &status, WNOHANG) == process { return nil }
            if FileManager.default.fileExists(atPath: "\(path)/pid") { return process }
            // There is no event for the new file, so it is checked every hundredth of a second.
            usleep(10_000)
        }
        kill(process, SIGKILL)
        _ = wait(process)
        return nil
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
        // Ignored if it has ended already.
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
