import Catalog
internal import CatalogTransfer
internal import ClusterClient
internal import CommandSupport
import Errors
import Foundation
import Wire

/// A catalog on the command line: a folder, an address, or the name of a catalog of a coordinator.
enum CatalogName: Hashable {
    /// A folder or an http(s) address, as `CatalogLocation` reads it.
    case place(String)
    /// A catalog of the coordinator that the command knows.
    case name(String)

    /// A word of lower-case letters, digits and hyphens is a name; everything else is a folder or an address.
    init(_ text: String) {
        let isName = text == PublishOptions.mainCatalog || PublishOptions.isCatalogName(text)
        self = isName ? .name(text) : .place(text)
    }

    /// The folder of a catalog that a command changes itself.
    ///
    /// - Throws: ``CLIError`` 64 for an address; `CatalogTransferError`.
    static func folder(_ text: String) throws -> URL {
        guard let folder = try CatalogSource(text).folder else {
            throw CLIError(.usage, "'\(text)' is an address; this command needs the catalog's folder")
        }
        return folder
    }

    /// The catalog for reading; the coordinator says where one of its own is.
    func source(_ cluster: ClusterOptions) async throws -> CatalogSource {
        switch self {
        case .place(let text): return try CatalogSource(toRead: text)
        case .name(let name):
            let health = try await Self.asking(name) { try await cluster.withClient { try await $0.health() } }
            guard let folder = health.folder(ofCatalog: name) else {
                let names = [PublishOptions.mainCatalog] + health.otherCatalogs.map(\.name)
                throw CLIError(
                    .noInput, "the coordinator has no catalog '\(name)'",
                    hint: "it has: \(names.joined(separator: ", ")); write a folder as ./\(name)")
            }
            if FileKind.isFolder(URL(filePath: folder)) { return try CatalogSource(folder) }
            guard let url = health.otherCatalogs.first(where: { $0.name == name })?.url, !url.isEmpty else {
                throw CLIError(
                    .noInput,
                    "catalog '\(name)' is in '\(folder)' on the coordinator's machine, which this machine does not have",
                    hint: "give the http(s) address of the catalog instead of its name")
            }
            return try CatalogSource(toRead: url)
        }
    }

    /// Asks the coordinator; an error says how a folder is written.
    static func asking<Value>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as ClusterError where error.code == .unreachable {
            throw CLIError(
                error.exitStatus, "'\(name)' is the name of a catalog of a coordinator, and \(error.message)",
                hint: "\(error.hint.map { "\($0); " } ?? "")write a folder as ./\(name)")
        }
    }
}

/// How much a package may shrink.
struct MaxShrinkOption {
    /// From 0 to 1.
    let share: Double

    /// Reads `10%` or `2.5 %`.
    ///
    /// - Throws: ``CLIError`` 64.
    init(_ text: String) throws {
        guard let digits = text.wholeMatch(of: /([0-9]{1,3}(\.[0-9]{1,6})?) ?%/)?.output.1, let number = Double(digits),
            number <= 100
        else {
            throw CLIError(
                .usage, "'\(text.prefix(40))' is no share of a package, 0% to 100%", hint: "write --max-shrink 10%")
        }
        share = number / 100
    }
}
