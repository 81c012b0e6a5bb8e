import Catalog
import CatalogFormat
import Errors
import PackageFiles
import Packages
import Tiles
import Wire

extension PublishOptions {
    /// Reads the options of a submission.
    ///
    /// - Throws: ``SubmitProblem`` `bad-edition`, `bad-request`.
    init(_ options: PBPublishOptions) throws(SubmitProblem) {
        self.init()
        if !options.catalog.isEmpty { catalog = options.catalog }
        do throws(CatalogError) { edition = try CatalogEdition(options.edition) } catch {
            throw SubmitProblem("bad-edition", error.message)
        }
        guard options.dataDate.isEmpty || DataDate.seconds(options.dataDate) != nil else {
            throw SubmitProblem(
                "bad-request",
                "The data's date '\(options.dataDate.prefix(40))' is not a date. Write 2026-10-01 or 2026-10-01T12:00:00Z."
            )
        }
        dataDate = options.dataDate.isEmpty ? nil : options.dataDate
        packs = try Self.packs(options.tilePacks)
        maxFile = try Self.maxFile(options.maxFile, options)
        replacesTileset = options.replacesTileset
        replacesArea = options.replacesArea
        allowsShrink = options.allowsShrink
        together = options.together
        then = try Self.steps(options.then)
    }

    private static func steps(_ texts: [String]) throws(SubmitProblem) -> [CatalogStep] {
        var steps: [CatalogStep] = []
        do throws(CatalogError) {
            for text in texts { steps.append(try CatalogStep(parsing: text)) }
        } catch {
            throw SubmitProblem("bad-request", error.message, hint: error.hint ?? "")
        }
        return steps
    }

    /// The largest size of a file, if there is a limit.
    ///
    /// - Parameter bytes: The limit of the submission, or of one of its packages; 0 = none.
    static func maxFile(_ bytes: UInt64, _ options: PBPublishOptions) throws(SubmitProblem) -> UInt64? {
        guard bytes > 0 else { return nil }
        guard bytes >= PackageParts.leastLimit else {
            throw SubmitProblem(
                "bad-request",
                "Files of at most \(bytes) bytes are too small for a package; the least limit is \(PackageParts.leastLimit) bytes."
            )
        }
        guard options.tilePacks.isEmpty else {
            throw SubmitProblem(
                "bad-request", "A package is cut into tile packs or into parts of limited size, not into both.",
                hint: "omit --tile-packs or --max-file")
        }
        return bytes
    }

    /// The zoom bands of tile packs, if packs are requested.
    private static func packs(_ bands: String) throws(SubmitProblem) -> PackScheme? {
        guard !bands.isEmpty else { return nil }
        do throws(TilesError) {
            guard bands.utf8.count <= 1_000 else {
                throw TilesError(.badZoom, "The text is longer than 1,000 bytes.")
            }
            return try PackScheme(parsing: bands)
        } catch {
            throw SubmitProblem("bad-request", "The bands of the tile packs cannot be read: \(error.message)")
        }
    }
}

extension PBPublishOptions {
    /// The same options with one spelling for what is not set.
    var canonical: PBPublishOptions {
        var options = self
        if edition.isRoot { options.clearEdition() }
        if catalog == PublishOptions.mainCatalog { options.catalog = "" }
        return options
    }

    /// The same with the permissions of a retry.
    func permitting(_ retry: PBJobOrder) -> PBPublishOptions {
        var options = self
        if retry.publish.replacesArea { options.replacesArea = true }
        if retry.publish.allowsShrink { options.allowsShrink = true }
        if retry.apart { options.together = false }
        if retry.setsMaxFile { options.maxFile = retry.publish.maxFile }
        return options
    }
}

extension CatalogEdition {
    /// The edition in a message.
    ///
    /// - Throws: ``CatalogError`` `bad-request`.
    init(_ edition: PBEdition) throws(CatalogError) {
        try self.init(
            group: edition.group.isEmpty ? nil : edition.group,
            language: edition.language.isEmpty ? nil : edition.language)
    }

    /// The edition in a message.
    var message: PBEdition { PBEdition(group: group ?? "", language: language ?? "") }
}
