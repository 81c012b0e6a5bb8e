internal import Foundation
internal import OfflineDatabase
internal import Packages
internal import Shards
internal import Tiles
internal import Tilesets
internal import Wire

/// Writes a merged package in the other formats that its manifest asks for, each into the blob store.
struct PackageExporter: Sendable {
    /// What this build writes beside the package itself; told to the coordinator, which offers nothing else.
    static let formats = PackageFormat.allCases.filter { $0 != .mbtiles }

    let store: any BlobStore
    let styles: StylePacks
    let environment: [String: String]

    /// Writes the formats one after the other, so that the disk holds one unfinished file at a time.
    ///
    /// - Throws: ``WorkFailure``, `PackagesError`, `ShardsError`, or `CancellationError`; no unfinished file is left then.
    func run(
        _ manifest: PBMergeManifest, job: UInt64, from package: URL, _ meter: WorkMeter
    ) async throws -> [PBPackageFile] {
        var files: [PBPackageFile] = []
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
                    receipt = try await database(manifest, job, from: package, to: temporary, meter)
                } else {
                    receipt = try await onThread(meter) { step in
                        try PackageExport.write(
                            from: package, format: format, to: temporary, replacing: true, progress: step)
                    }
                }
                try await store.put(temporary, digest: receipt.digest)
                files.append(
                    .make {
                        $0.format = name
                        $0.sha256 = Data(receipt.digest.bytes)
                        $0.size = receipt.size
                    })
            } catch {
                unlink(temporary.path)
                throw error
            }
        }
        return files
    }

    /// The offline database, with the style that the manifest names.
    private func database(
        _ manifest: PBMergeManifest, _ job: UInt64, from package: URL, to target: URL, _ meter: WorkMeter
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
            // Apps look things up by their whole addresses.
            options.key = key
            // What is in the mask and in no shard is known to be empty, unless tiles may lack.
            if manifest.allowedMissing == 0 { options.emptyTiles = try TileMask(decoding: manifest.mask) }
        } catch {
            throw WorkFailure(cause: .badStyle, detail: "\(error)", retriable: true)
        }
        if let date = DataDate.seconds(manifest.dataDate), date > 0 { options.modified = date }
        let language = manifest.edition.language.isEmpty ? tileset.language : manifest.edition.language
        let wanted = StylePacks.Wanted(
            url: address.url, language: address.url.contains("{language}") ? language : nil, key: key, job: job)
        return try await styles.withPack(wanted, meter) { [options] pack in
            try await onThread(meter) { step in
                try OfflineDatabaseExport.write(
                    from: [OfflineTiles(package)], stylePack: pack, to: target, options: options, replacing: true,
                    progress: step)
            }
        }
    }

    /// Work on a thread of its own; every step of it is told, so that a long one is not taken for a hang.
    private func onThread(
        _ meter: WorkMeter,
        _ work: @escaping @Sendable (_ step: (UInt64) throws -> Void) throws -> ExportReceipt
    ) async throws -> ExportReceipt {
        try await withTaskCancellationHandler {
            try await Blocking.run("packhorse.export") {
                try work { _ in
                    if meter.isCancelled { throw CancellationError() }
                    meter.step()
                }
            }
        } onCancel: {
            meter.cancel()
        }
    }
}
