internal import Foundation
internal import Packages
internal import Shards
internal import Wire

/// Writes a merged package in the other formats that its manifest asks for, each into the blob store.
struct PackageExporter: Sendable {
    /// What this build writes beside the package itself; told to the coordinator, which offers nothing else.
    static let formats: [PackageFormat] = [.mbtilesFlat, .mbtilesNormalized, .carto, .pmtiles]

    let store: any BlobStore

    /// Writes the formats one after the other, so that the disk holds one unfinished file at a time.
    ///
    /// - Throws: ``WorkFailure``, `PackagesError`, `ShardsError`, or `CancellationError`; no unfinished file is left then.
    func run(_ manifest: PBMergeManifest, from package: URL, _ meter: WorkMeter) async throws -> [PBPackageFile] {
        var files: [PBPackageFile] = []
        for name in manifest.formats {
            guard let format = PackageFormat(rawValue: name), Self.formats.contains(format) else {
                throw WorkFailure(
                    cause: "unsupported", detail: "This worker does not write '\(name)'; upgrade it.", retriable: true)
            }
            let temporary = try store.temporaryURL()
            do {
                let receipt = try await write(format, from: package, to: temporary, meter)
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

    /// One file on a thread of its own; every step of it is told, so that a long one is not taken for a hang.
    private func write(
        _ format: PackageFormat, from package: URL, to target: URL, _ meter: WorkMeter
    ) async throws -> ExportReceipt {
        try await withTaskCancellationHandler {
            try await Blocking.run("packhorse.export") {
                try PackageExport.write(from: package, format: format, to: target, replacing: true) { _ in
                    if meter.isCancelled { throw CancellationError() }
                    meter.step()
                }
            }
        } onCancel: {
            meter.cancel()
        }
    }
}
