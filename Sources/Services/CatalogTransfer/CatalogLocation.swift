import CatalogFormat
import Errors
package import Foundation

/// Where a catalog is: in a folder of this machine, or on a web server.
package enum CatalogLocation: Sendable, Hashable {
    /// The folder that has `packages.json`.
    case folder(URL)
    /// The address of that folder, ending in a slash.
    case web(String)

    /// Reads what a user has named.
    ///
    /// Only the names of files are looked at; no server is asked.
    ///
    /// - Parameter text: A folder, a coordinator's data folder, or the http(s) address of either `catalog.json` or its
    ///   folder.
    /// - Throws: `no-catalog` for a folder without lists, `bad-address` for an address of another kind.
    package init(_ text: String) throws(CatalogTransferError) {
        let lower = text.lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
            guard let url = URL(string: text), url.host()?.isEmpty == false else { throw Self.noServer(text) }
            guard url.user() == nil, url.password() == nil else { throw Self.hasUser }
            var base = text
            if base.hasSuffix("/" + CatalogIndex.fileName) { base.removeLast(CatalogIndex.fileName.count) }
            self = .web(base.hasSuffix("/") ? base : base + "/")
            return
        }
        if let refusal = Self.refusal(ofAddress: text) { throw refusal }
        let named = URL(filePath: text, directoryHint: .isDirectory)
        let inner = named.appending(path: "catalog", directoryHint: .isDirectory)
        // The share of a device has no list for CARTO's client.
        func hasList(_ url: URL) -> Bool {
            ["packages.json", CatalogIndex.fileName].contains {
                FileManager.default.fileExists(atPath: url.appending(path: $0).path)
            }
        }
        let folder = !hasList(named) && hasList(inner) ? inner : named
        guard FileManager.default.fileExists(atPath: named.path) else {
            throw Self.missingFolder(named.path, named: text)
        }
        guard hasList(folder) else { throw Self.noLists(named.path) }
        self = .folder(folder)
    }

    /// The folder or address, ending in a slash.
    package var name: String {
        switch self {
        case .folder(let url): url.path.hasSuffix("/") ? url.path : url.path + "/"
        case .web(let address): address
        }
    }
}
