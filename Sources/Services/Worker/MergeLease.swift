internal import Digests
internal import Foundation
internal import Packages
internal import Wire

/// A merge that a worker carries out.
struct MergeLease: Sendable {
    let manifest: PBMergeManifest
    let job: UInt64
    let meter: WorkMeter

    /// The format that is written from the shards.
    var main: PackageFormat { manifest.withoutMbtiles ? .pmtiles : .mbtiles }
}

extension WrittenFile {
    /// The main file of a package.
    init(_ receipt: PackageReceipt, as format: PackageFormat, at url: URL) {
        self.init(format: format.rawValue, url: url, digest: receipt.digest, size: receipt.size)
    }
}

extension PBPackageFile {
    /// A file as the commit names it.
    init(_ file: WrittenFile) {
        self = .make {
            $0.format = file.format
            $0.sha256 = Data(file.digest.bytes)
            $0.size = file.size
        }
    }
}

extension PBMergeResult {
    /// The result for a package that is one file.
    init(_ receipt: PackageReceipt, files: [PBPackageFile]) {
        self = .make {
            $0.package = Data(receipt.digest.bytes)
            $0.size = receipt.size
            $0.tiles = receipt.tiles
            $0.tilesHash = receipt.tilesHash
            $0.files = files
            $0.remark = receipt.remark
        }
    }
}
