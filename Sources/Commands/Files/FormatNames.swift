import Foundation
import Packages

extension PackageFormat {
    /// The formats that a file of this name may have: first those whose whole extension it ends with, the longest first.
    ///
    /// `EE.carto.mbtiles` is of carto, although it ends with .mbtiles too. Empty for a folder's name, and for an extension of no format.
    static func possible(forName name: String) -> [PackageFormat] {
        let ending = URL(filePath: name).pathExtension
        guard !ending.isEmpty, !name.hasSuffix("/") else { return [] }
        let possible = allCases.filter { $0.fileExtension.hasSuffix(".\(ending)") }
            .sorted { $0.fileExtension.count > $1.fileExtension.count }
        return possible.filter { name.hasSuffix($0.fileExtension) }
            + possible.filter { !name.hasSuffix($0.fileExtension) }
    }
}
