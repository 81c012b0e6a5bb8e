internal import Foundation
internal import PackageFiles

extension FuzzTarget {
    /// Verifies a ZIP archive of tiles: it never fails for its content, and names no more tiles than have bytes.
    static func tree(_ bytes: [UInt8]) -> Verdict {
        let file = scratch("zip")
        defer { unlink(file.path) }
        do {
            try Data(bytes).write(to: file)
        } catch {
            return .refused("scratch")
        }
        do {
            let report = try TreeVerify.run(file, mask: nil)
            guard report.tiles <= UInt64(bytes.count / (ZipRecords.localSize + ZipRecords.centralSize)) else {
                return .wrong("\(report.tiles) tiles came out of \(bytes.count) bytes")
            }
            if report.isUsable { return .accepted }
            return .refused(report.damage?.code ?? "no-tile")
        } catch {
            return .wrong("\(error)")
        }
    }
}
