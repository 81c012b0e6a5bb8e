import Foundation
import Packages

extension PackageFormat {
    /// The formats that a file of this name may have: those with a matching extension, the longest extension first.
    ///
    /// `EE.carto.mbtiles` has the format carto, although it also ends with .mbtiles. Empty for a folder's name, and for
    /// an unknown extension.
    static func possible(forName name: String) -> [PackageFormat] {
        let ending = URL(filePath: name).pathExtension
        guard !ending.isEmpty, !name.hasSuffix("/") else { return [] }
        let possible = allCases.filter { $0.fileExtension.hasSuffix(".\(ending)") }
            .sorted { $0.fileExtension.count > $1.fileExtension.count }
        return possible.filter { name.hasSuffix($0.fileExtension) }
            + possible.filter { !name.hasSuffix($0.fileExtension) }
    }
}
