internal import CommandSupport
import Errors
import TextFormats
internal import Tiles
import Tilesets
internal import Transfer

/// Whether the server of a tileset can be found at all, before work begins that would wait for it.
enum HostCheck {
    /// - Parameter orSilent: Whether a resolver that does not answer is an error too.
    /// - Throws: ``CLIError`` 69 for a name that has no address.
    static func require(_ tileset: Tileset, orSilent: Bool) async throws {
        // A proxy looks names up itself.
        let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let address = (try? tileset.templates().first).flatMap { $0?.expand(.root) } ?? tileset.source.addresses.first
        guard let host = address.flatMap(URLHost.init)?.name,
            !proxies.contains(where: { Variable.value($0) != nil })
        else { return }
        switch await HostLookup.answer(for: host) {
        case .found: return
        case .silent where !orSilent: return
        case .silent:
            throw CLIError(
                .unavailable, "tileset '\(tileset.id)': the resolver of this machine does not answer for \(host)",
                hint: "check the network of this machine")
        case .unknown:
            throw CLIError(
                .unavailable, "tileset '\(tileset.id)': no server has the name \(host)",
                hint:
                    "check the address of the tileset for a misspelled name, and whether this machine uses the right resolver"
            )
        }
    }
}
