import Errors
import PackageFiles
import Packages
import Testing

struct PackageFormatTests {
    @Test func everyWordIsReadBackAndEveryExtensionIsItsOwn() throws {
        for format in PackageFormat.allCases {
            #expect(try PackageFormat(parsing: format.rawValue) == format)
            #expect(format.fileExtension.hasPrefix("."))
        }
        #expect(Set(PackageFormat.allCases.map(\.fileExtension)).count == PackageFormat.allCases.count)
    }

    @Test func listsHaveOneOrderAndNoRepetition() throws {
        #expect(try PackageFormat.list(parsing: "pmtiles,mbtiles,pmtiles,carto") == [.mbtiles, .carto, .pmtiles])
        for text in ["", "mbtiles,", "MBTiles", "rar"] {
            let error = #expect(throws: PackagesError.self) { try PackageFormat.list(parsing: text) }
            #expect(error?.code == .unknownFormat && error?.message.contains("mbtiles-normalized") == true)
        }
    }
}
