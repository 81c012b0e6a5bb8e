import ArgumentParser
import Packages
internal import TextFormats

/// The option that limits the files of packages.
struct FileSizeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The largest size of a file, for example 4GB for FAT32. A package that is larger is cut into parts ID-1, ID-2 …, each with the low zooms of the whole package.",
            valueName: "size"))
    var maxFile: String?

    func validate() throws {
        if let maxFile { try Self.check(maxFile) }
    }

    /// - Throws: `ValidationError` for a text that is no size, or too small a one.
    static func check(_ maxFile: String) throws {
        guard let size = Units.size(maxFile) else {
            throw ValidationError(
                "--max-file '\(maxFile)' is not a size; expected for example 4GB, 700MB or 4294967295.")
        }
        guard size >= PackageParts.leastLimit else {
            throw ValidationError(
                "--max-file '\(maxFile)' is too small for a package; the least is \(PackageParts.leastLimit) bytes.")
        }
    }

    /// The limit in bytes; 0 for none.
    var bytes: UInt64 { maxFile.flatMap(Units.size) ?? 0 }
}
