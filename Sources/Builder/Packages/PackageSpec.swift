public import PackageFiles
internal import TileBodies
public import Tiles

/// The description of a package; together with the tiles it determines every byte of the file.
public struct PackageSpec: Sendable {
    /// The package's id: a file name without its extension.
    public let id: String
    /// The tiles that may be in it: those of the mask at these zooms.
    public let mask: TileMask
    /// The zooms it spans; `zooms.max` is at most the mask's.
    public let zooms: ZoomRange
    /// The content of its metadata table.
    public let metadata: PackageMetadata
    /// Which of ``formatVersions`` to write.
    public let formatVersion: Int

    /// Makes a spec from its parts.
    public init(
        id: String, mask: TileMask, zooms: ZoomRange, metadata: PackageMetadata,
        formatVersion: Int = PackageSpec.formatVersion
    ) {
        self.formatVersion = formatVersion
        self.id = id
        self.mask = mask
        self.zooms = zooms
        self.metadata = metadata
    }

    /// The version of the bytes this build writes for a spec.
    ///
    /// It is raised whenever the same spec and tiles would give other bytes, so that a coordinator never mixes builds
    /// in one catalog version. Since 2, `bounds` over longitude 180 are the whole width.
    public static let formatVersion = 2

    /// The versions this build writes: 1 too, while workers of the build before are in the cluster.
    public static let formatVersions = [1, formatVersion]
}
