import Catalog
import CatalogFormat
internal import CatalogTransfer
internal import CommandSupport
import Coordinator
import Errors
import Files
import Foundation
import PackageFiles
import StyleFormat
internal import TextFormats
import Tiles

/// Verifies every byte that a client of a catalog could fetch: signature, lists, every file of every kept version,
/// patches.
struct CatalogCheck: Encodable {
    /// The result in one line.
    let summary: String
    /// The files, relative to the catalog.
    let paths: [String]
    /// Sum of the file sizes in bytes.
    let bytes: UInt64
    /// Tiles of the MBTiles files.
    let tiles: UInt64
    /// Id of the key whose signature was checked.
    let key: String?
    /// Possible problems that are not errors of the bytes.
    let warnings: [String]

    /// Checks a catalog in a folder or on a web server, one file after another.
    ///
    /// Each file from a web server is downloaded, checked and removed.
    ///
    /// - Parameter key: The expected signing key; `nil` checks no signature.
    /// - Throws: ``CLIError`` 65 with all problems; `CatalogTransferError` when there is no catalog at an address.
    static func run(_ source: CatalogSource, key: CatalogPublicKey? = nil) async throws -> CatalogCheck {
        var lists = CatalogLists(source)
        let document: CatalogDocument?
        do {
            document = try await CatalogDocument.read(source, key: key)
        } catch let error as CatalogError {
            document = nil
            lists.problems.append("catalog.json: \(Sentence.inner(error.message)) [\(error.code)]")
        }
        // An address without lists is a wrong address, not a damaged catalog.
        if source.folder == nil, document == nil, lists.problems.isEmpty,
            try await source.read("packages.json") == nil
        {
            throw source.place.missingIndex
        }
        if key != nil, document == nil, lists.problems.isEmpty {
            lists.problems.append("catalog.json: missing, but a signature is required [missing-file]")
        }
        try await lists.read(document?.index)
        let scratch = TemporaryName.forUse(as: "verify")
        try Durable.makeFolder(scratch)
        // A scratch folder that stays behind is harmless.
        defer { try? FileManager.default.removeItem(at: scratch) }
        var problems = lists.problems
        var (bytes, tiles): (UInt64, UInt64) = (0, 0)
        for file in lists.files.values.sorted(by: { $0.path < $1.path }) {
            try Task.checkCancellation()
            let copy = scratch.appending(path: "file")
            do {
                guard let local = try await source.file(file.path, size: file.size, sha256: file.sha256, to: copy)
                else {
                    problems.append("\(file.path): missing [missing-file]")
                    continue
                }
                bytes += file.size
                let (found, count) = try await FileWork.run { try contents(of: local, file) }
                problems += found
                tiles += count
            } catch let error as CatalogTransferError where error.code == .badCatalog {
                problems.append("\(file.path): \(Sentence.inner(error.message))")
            }
            try Durable.remove(copy)
        }
        guard problems.isEmpty else {
            let isBegun = source.folder.map(Catalog.hasBegunChange) ?? false
            let isUnproven = problems.allSatisfy { $0.contains("[bad-signature]") }
            throw CLIError(
                .badData,
                "catalog '\(source.name)' is \(isUnproven ? "not verified" : "damaged"): "
                    + Units.count(problems.count, of: "problem"),
                details: EqualCauses.lines(problems),
                hint: isUnproven
                    ? "check --public-key; the publisher signs the catalog with --signing-key"
                    : isBegun
                        ? "a change was interrupted: repeat its command, or make any other change, which completes it first"
                        : "restore the listed files, or delete them and build their packages again")
        }
        let signed = document?.provenKey.map { ", signed by \($0)" } ?? ""
        return CatalogCheck(
            summary: "catalog verified: \(Units.count(lists.packages, of: "package")), "
                + "\(Units.count(lists.files.count, of: "file")), \(Units.count(tiles, of: "tile")), \(Units.bytes(bytes))\(signed)",
            paths: lists.files.keys.sorted(), bytes: bytes, tiles: tiles, key: document?.provenKey,
            warnings: source.folder == nil ? CatalogAddress.warnings(of: lists.bases, servedAt: source.name) : [])
    }

    /// Checks the catalog in a folder, as a step after a job.
    ///
    /// - Throws: `StepProblem`.
    static func step(_ folder: URL, key: CatalogPublicKey?) async throws -> String {
        do { return try await run(try CatalogSource(folder.path), key: key).summary } catch is CancellationError {
            throw CancellationError()
        } catch {
            guard let known = ErrorTranslation.cliError(error) else { throw error }
            let text = ([known.message] + known.details.prefix(3)).joined(separator: "; ")
            let cause = known.status == .badData ? "catalog-damaged" : "catalog-unreadable"
            throw StepProblem(cause, text, status: known.status)
        }
    }

    /// Prints the result, and warnings to standard error.
    func printResult(json: Bool) throws {
        if json { Console.result(try JSONText.pretty(self)) } else { Console.result(summary) }
        for warning in warnings { Console.warning(warning) }
    }

    /// The problems inside a file with a correct digest, and the number of its tiles.
    private static func contents(of url: URL, _ file: CatalogLists.File) throws -> ([String], UInt64) {
        // A patch is verified by its digest here. Its content is checked against both versions when it is made and when
        // it is applied.
        // A companion is carried as it is: its digest is all that is known of it.
        guard file.format != "patch", file.format != CatalogCompanion.format else { return ([], 0) }
        if file.format == "style-pack" {
            do {
                _ = try StylePackCheck.run(url)
                return ([], 0)
            } catch let error as CLIError where error.status == .badData {
                return (["\(file.path): \(Sentence.inner(error.message))"], 0)
            } catch let error as StylesError {
                return (["\(file.path): \(Sentence.inner(error.message)) [\(error.code)]"], 0)
            }
        }
        // A pack may contain more than the region that lists it. Its seal verifies its content.
        guard file.format != "tile-pack" else {
            let report = try PackageVerify.run(url)
            return (report.problems.map { "\(file.path): \($0)" }, report.tiles)
        }
        let mask: TileMask
        do { mask = try TileMask(cartoText: file.mask) } catch {
            return (["\(file.path): its tile_mask cannot be read: \(error) [bad-mask]"], 0)
        }
        let report = try PackageCheck.verify(url, mask: mask)
        return (report.problems.map { "\(file.path): \($0)" }, report.tiles)
    }
}
