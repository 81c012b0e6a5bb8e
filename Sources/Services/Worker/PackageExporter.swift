internal import Blobs
internal import Digests
internal import Errors
internal import Files
internal import Foundation
internal import OfflineDatabase
internal import PackageFiles
internal import Packages
internal import Tiles
internal import Tilesets
internal import Wire

/// A file of a package that is written and is no blob yet.
struct WrittenFile {
    let format: String
    let url: URL
    let digest: Digest
    let size: UInt64
}

/// Writes a merged package in the other formats of its manifest.
struct PackageExporter: Sendable {
    /// The formats that this build writes besides MBTiles, PMTiles also alone; a folder is no blob.
    ///
    /// They are sent to the coordinator, which offers no others.
    static let formats = PackageFormat.allCases.filter { $0 != .mbtiles && !$0.isFolder }

    let store: any BlobStore
    let styles: StylePacks
    let environment: [String: String]

    /// Writes the formats one after the other, so that the disk contains only one unfinished file at a time.
    ///
    /// - Parameters:
    ///   - mask: The tiles of the package; a part of those of the manifest.
    ///   - keep: Takes each finished file before the next one is begun.
    /// - Throws: ``WorkFailure``, `PackagesError`, `StorageError`, or `CancellationError`; no unfinished file is left
    ///   then.
    func run(
        _ manifest: PBMergeManifest, mask: TileMask, job: UInt64, from package: URL, _ meter: WorkMeter,
        keep: (WrittenFile) async throws -> Void
    ) async throws {
        for name in manifest.formats {
            guard let format = PackageFormat(rawValue: name), Self.formats.contains(format) else {
                throw WorkFailure(
                    cause: .unsupported, detail: "This worker does not write '\(name)'; upgrade it.", retriable: true)
            }
            let temporary = try store.temporaryURL()
            if meter.isCancelled || Task.isCancelled { throw CancellationError() }
            do {
                let receipt: ExportReceipt
                if format == .maplibre {
                    receipt = try await database(
                        manifest, mask: mask, job: job, from: package, to: temporary, meter: meter)
                } else {
                    receipt = try await onThread(meter) { step in
                        try PackageExport.write(
                            from: package, format: format, to: temporary, replacing: true, progress: step)
                    }
                }
                try await keep(
                    WrittenFile(format: name, url: temporary, digest: receipt.digest, size: receipt.size))
            } catch {
                unlink(temporary.path)
                throw error
            }
        }
    }

    /// Writes the offline database with the style of the manifest.
    private func database(
        _ manifest: PBMergeManifest, mask: TileMask, job: UInt64, from package: URL, to target: URL, meter: WorkMeter
    ) async throws -> ExportReceipt {
        let tileset: Tileset
        let address: SecretAddress
        let key: String?
        var options = OfflineOptions()
        do {
            tileset = try Tileset(canonicalJSON: Array(manifest.tileset))
            address = try SecretAddress(manifest.style)
            let usesKey = address.variable == nil && address.url.contains("{key}")
            key = try usesKey ? tileset.key(environment: environment) : address.key(environment: environment)
            // Apps look resources up by their complete addresses.
            options.key = key
            // A tile of the mask that is in no shard is known to be empty, unless tiles may be missing.
            if manifest.allowedMissing == 0 { options.emptyTiles = mask }
        } catch {
            throw WorkFailure(cause: .badStyle, detail: "\(error)", retriable: true)
        }
        if let date = DataDate.seconds(manifest.dataDate), date > 0 { options.modified = date }
        let language = manifest.edition.language.isEmpty ? tileset.language : manifest.edition.language
        let wanted = StylePacks.Wanted(
            url: address.url, language: address.url.contains("{language}") ? language : nil, key: key, job: job)
        return try await styles.withPack(wanted, meter: meter) { [options] pack in
            try await onThread(meter) { step in
                try OfflineDatabaseExport.write(
                    from: [OfflineTiles(package)], stylePack: pack, to: target, options: options, replacing: true,
                    progress: step)
            }
        }
    }

    /// Runs work on a separate thread.
    ///
    /// Every step is reported, so that long work does not count as stalled.
    private func onThread(
        _ meter: WorkMeter,
        _ work: @escaping @Sendable (_ step: (UInt64) throws -> Void) throws -> ExportReceipt
    ) async throws -> ExportReceipt {
        try await withTaskCancellationHandler {
            try await Blocking.run("packhorse.export") {
                try work { _ in
                    if meter.isCancelled { throw CancellationError() }
                    meter.countStep()
                }
            }
        } onCancel: {
            meter.cancel()
        }
    }
}
