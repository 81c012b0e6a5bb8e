internal import Errors
internal import GRDB
internal import PackageFiles
internal import Packages
internal import TileBodies

/// The columns that resources and tiles share.
enum CachedRow {
    /// `expires, modified, data, compressed, must_revalidate`.
    static let columns = "expires, modified, data, compressed, must_revalidate"

    /// What became of a row's body.
    enum Body {
        /// The server has none.
        case none
        /// The bytes, unpacked.
        case bytes([UInt8])
        /// Told in the report.
        case broken
    }

    /// Checks the shared columns from index `first` on, and unpacks the body.
    static func body(_ row: Row, from first: Int, at place: String, into report: inout VerifyReport) -> Body {
        let values = (first..<first + 5).map { index -> DatabaseValue in row[index] }
        switch values[0].storage {
        case .null, .int64: break
        default: report.add("bad-row", at: place, because: "expires is not a whole number of seconds")
        }
        if case .int64(let modified) = values[1].storage, modified > 0 {
        } else {
            report.add(
                "bad-row", at: place,
                because: "modified is not set, so clients would never replace an older row by this one")
        }
        if values[4].storage != .int64(0) {
            report.add("must-revalidate", at: place, because: "clients refuse such a row without a network")
        }
        switch (values[2].storage, values[3].storage) {
        case (.null, .int64(0)): return .none
        case (.blob(let data), .int64(0)): return .bytes([UInt8](data))
        case (.blob(let data), .int64(1)):
            do throws(TileBodiesError) {
                let bytes = try Zlib.decompress([UInt8](data))
                if data.count >= bytes.count {
                    report.add("bad-row", at: place, because: "it is compressed, but not smaller")
                }
                return .bytes(bytes)
            } catch {
                report.add("bad-body", at: place, because: error.message)
            }
        default: report.add("bad-row", at: place, because: "data and compressed contradict each other")
        }
        return .broken
    }
}
