import Foundation
import OfflineMaps

/// The servers that installed styles name.
///
/// Pages of any origin may read from the server of the device. So it asks no other servers: a page could otherwise reach
/// the network of this machine through it.
enum StyleHosts {
    /// Whether a path of the server is for the store alone, or for a server that an installed style names.
    static func allows(_ path: String, _ resources: ResourceResolver) -> Bool {
        guard let host = host(path) else { return true }
        let marker = "http://style.invalid"
        guard let base = URL(string: marker) else { return false }
        return resources.styles.contains { id in
            // A style that cannot be read names no server.
            guard let style = try? resources.style(id, .served(at: base)) else { return false }
            let text = String(decoding: style, as: UTF8.self).replacing("\\/", with: "/")
            return text.contains("\(marker)/\(host)/")
        }
    }

    /// `https/HOST` or `http/HOST` of a path that stands for an address of a server.
    static func host(_ path: String) -> String? {
        let parts = path.partsBetweenSlashes(maxSplits: 2)
        guard parts.count >= 2, parts[0] == "https" || parts[0] == "http" else { return nil }
        return "\(parts[0])/\(parts[1].prefix { $0 != "?" })"
    }
}
