import ArgumentParser
import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

/// `packhorse catalog mirrors`: other servers that have the files of a catalog.
struct CatalogMirrorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirrors",
        abstract: "Name servers that have the same files; devices ask them when the first one fails.",
        discussion: """
            The addresses are in catalog.json, under its signature, at most \(CatalogMirror.limit). Devices ask the address that they were given, then the
            mirrors in this order, and compare every digest. Push the catalog to each mirror: packhorse catalog push.
            Examples:
              packhorse catalog mirrors add ./data/catalog https://mirror.example.org/offline/
              packhorse catalog mirrors list ./data/catalog
              packhorse catalog mirrors remove ./data/catalog https://mirror.example.org/offline/
            """,
        subcommands: [
            CatalogMirrorsAddCommand.self, CatalogMirrorsRemoveCommand.self, CatalogMirrorsListCommand.self,
        ])
}

/// `packhorse catalog mirrors add`.
struct CatalogMirrorsAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Name a mirror; it is asked after those that are listed already.",
        discussion: """
            The server is not asked. Check it with packhorse catalog verify ADDRESS once the catalog is there.
            Example: packhorse catalog mirrors add ./data/catalog https://mirror.example.org/offline/
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "The http(s) address of the folder that has catalog.json there.") var address: String

    func run() throws {
        let (mirrors, isNew) = try catalog.open().add(mirror: address)
        mirrors.forEach(Console.result)
        if !isNew { Console.note("the catalog names it already; nothing was changed") }
    }
}

/// `packhorse catalog mirrors remove`.
struct CatalogMirrorsRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Name a mirror no longer.",
        discussion: """
            Devices ask it until they have read the new catalog.json.
            Example: packhorse catalog mirrors remove ./data/catalog https://mirror.example.org/offline/
            """)

    @OptionGroup var catalog: CatalogOptions
    @Argument(help: "The address, as it is listed.") var address: String

    func run() throws { try catalog.open().remove(mirror: address).forEach(Console.result) }
}

/// `packhorse catalog mirrors list`.
struct CatalogMirrorsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the mirrors in the order in which devices ask them.",
        discussion: """
            Example: packhorse catalog mirrors list https://maps.example.com/offline/
            """)

    @Argument(help: "The catalog's folder or its http(s) address.") var catalog: String
    @Flag(help: "Print the result as JSON.") var json = false

    func run() async throws {
        let source = try CatalogSource(toRead: catalog)
        guard let document = try await CatalogDocument.read(source, key: nil) else { throw source.place.missingIndex }
        let mirrors = document.index.mirrors ?? []
        if json { return Console.result(try JSONText.pretty(mirrors)) }
        mirrors.forEach(Console.result)
        if mirrors.isEmpty { Console.note("the catalog names no mirror") }
    }
}
