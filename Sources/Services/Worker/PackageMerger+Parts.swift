internal import Blobs
internal import Digests
internal import Files
internal import Foundation
internal import PackageFiles
internal import Packages
internal import Tiles
internal import Wire

/// A merge whose files may not be larger than a limit: one package, or parts of it.
extension PackageMerger {
    /// Writes part after part, each in all formats, and measures its files before they become blobs.
    func parts(
        of spec: PackageSpec, _ inputs: [MergeInput], for lease: MergeLease
    ) async throws -> PBMergeResult {
        var parts = try await planned(spec, of: inputs, for: lease)
        var result = PBMergeResult()
        var done: UInt64 = 0
        while let part = parts.current {
            let (receipt, files) = try await write(part, lease, done: done)
            do {
                if let most = files.map(\.size).max(), most > lease.manifest.maxFile {
                    for file in files { unlink(file.url.path) }
                    try parts.reject(bytes: most)
                    continue
                }
                for file in files { try await store.put(file.url, digest: file.digest) }
            } catch {
                for file in files { unlink(file.url.path) }
                throw error
            }
            guard part.number > 0 else {
                let others = lease.main == .mbtiles ? files.dropFirst() : files[...]
                return PBMergeResult(receipt, files: others.map(PBPackageFile.init))
            }
            result.add(part, made: receipt, in: files)
            done += receipt.tiles
            try parts.accept()
        }
        result.tiles = parts.stored
        return result
    }

    /// Reads the sizes of all tiles on a separate thread.
    private func planned(
        _ spec: PackageSpec, of inputs: [MergeInput], for lease: MergeLease
    ) async throws -> PackageParts {
        let (manifest, meter) = (lease.manifest, lease.meter)
        let formats = [lease.main] + manifest.formats.compactMap(PackageFormat.init(rawValue:))
        return try await withTaskCancellationHandler {
            try await Blocking.run("packhorse.parts") {
                try naming(inputs, allowedMissing: manifest.allowedMissing, on: meter) {
                    try PackageParts(
                        spec, shards: inputs, formats: formats, limit: manifest.maxFile,
                        allowedMissing: manifest.allowedMissing
                    ) {
                        if meter.isCancelled { throw CancellationError() }
                        meter.countStep()
                    }
                }
            }
        } onCancel: {
            meter.cancel()
        }
    }

    /// Writes one part in all formats, the main one first; none of its files is left when one fails.
    ///
    /// A part whose main file is too large is not written in other formats; PMTiles as the main file has none.
    private func write(
        _ part: PackageParts.Part, _ lease: MergeLease, done: UInt64
    ) async throws -> (PackageReceipt, [WrittenFile]) {
        let temporary = try store.temporaryURL()
        let receipt = try await write(part.spec, of: part.shards, into: temporary, for: lease, done: done)
        var files = [WrittenFile(receipt, as: lease.main, at: temporary)]
        guard lease.main == .mbtiles, receipt.size <= lease.manifest.maxFile else { return (receipt, files) }
        do {
            try await exporter.run(
                lease.manifest, mask: part.spec.mask, job: lease.job, from: temporary, lease.meter
            ) { files.append($0) }
        } catch {
            for file in files { unlink(file.url.path) }
            throw error
        }
        return (receipt, files)
    }
}

extension PBMergeResult {
    /// Adds a part with its files, ascending by format; the package has the digest of its first part.
    fileprivate mutating func add(
        _ part: PackageParts.Part, made receipt: PackageReceipt, in written: [WrittenFile]
    ) {
        if part.number == 1 {
            package = Data(receipt.digest.bytes)
            tilesHash = receipt.tilesHash
        }
        if remark.isEmpty { remark = receipt.remark }
        size += receipt.size
        for file in written.sorted(by: { $0.format < $1.format }) {
            var named = PBPackageFile(file)
            named.part = part.number
            named.firstTile = part.first.hilbertID
            named.commonZooms = UInt32(part.common)
            named.tiles = receipt.tiles
            named.tilesHash = receipt.tilesHash
            files.append(named)
        }
    }
}
