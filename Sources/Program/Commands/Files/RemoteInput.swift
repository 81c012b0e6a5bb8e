internal import CommandSupport
import Foundation
import Origins
internal import TextFormats
import Tilesets

/// An input of `inspect` and `convert` that is an archive on a web server or in a bucket.
enum RemoteInput {
    /// Whether an argument is an address and not a file.
    static func isMeant(by text: String) -> Bool {
        let text = text.lowercased()
        return ["http://", "https://", "s3://", "pmtiles:http://", "pmtiles:https://", "pmtiles:s3://"].contains {
            text.hasPrefix($0)
        }
    }

    /// Reads the header and metadata of the archive.
    ///
    /// - Throws: ``CLIError`` 64 for an address of something else; `OriginsError`.
    static func open(_ text: String) async throws -> RemoteArchive {
        let file = try TilesetReader.file(text.hasPrefix("pmtiles:") ? text : "pmtiles:\(text)")
        return try await RemoteArchive(file, environment: ProcessInfo.processInfo.environment)
    }

    /// Prints the header and metadata of the archive.
    static func inspect(_ text: String, json: Bool) async throws {
        let facts = try await open(text).facts
        if json { return Console.result(try JSONText.pretty(facts)) }
        Console.result("archive   \(facts.url)")
        Console.result(
            "form      pmtiles, \(facts.format ?? "unknown tile format"), \(facts.tileCoding), \(Units.bytes(facts.size))"
                + (facts.isClustered ? ", clustered" : ""))
        Console.result("zooms     \(facts.zoomMin)-\(facts.zoomMax)")
        Console.result("bounds    \(facts.bounds.map { "\($0)" }.joined(separator: ","))")
        if facts.tiles > 0 {
            Console.result("tiles     \(Units.count(facts.tiles)), \(Units.count(facts.bodies, of: "body", "bodies"))")
        }
        if let name = facts.name { Console.result("name      \(name)") }
        if let attribution = facts.attribution { Console.result("source    \(attribution)") }
        Console.result("version   \(facts.version)")
    }

    /// Copies the archive into a separate folder next to an output, and removes it afterwards.
    static func withCopy<Value: Sendable>(
        of text: String, nextTo output: URL, _ style: ProgressOptions.Style,
        _ body: @Sendable (URL) async throws -> Value
    ) async throws -> Value {
        let archive = try await open(text)
        let folder = output.deletingLastPathComponent().appending(
            path: ".packhorse-\(ProcessInfo.processInfo.processIdentifier)", directoryHint: .isDirectory)
        try OutputLocation.makeFolder(folder)
        // A scratch folder that stays behind is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appending(path: "source.pmtiles")
        let size = archive.facts.size
        let meter = ProgressMeter(style)
        try await archive.download(to: copy) { done in
            meter.show(
                ProgressBar(
                    "fetching", fraction: Double(done) / Double(max(1, size)),
                    facts: ["\(Units.bytes(done)) of \(Units.bytes(size))"])
            ) { #"{"fetched":\#(done),"size":\#(size)}"# }
        }
        meter.end()
        return try await body(copy)
    }
}
