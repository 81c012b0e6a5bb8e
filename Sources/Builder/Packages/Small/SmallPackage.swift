/// How large a package may be that is merged on one thread, with its tiles and its file in memory.
///
/// The bytes of the file do not depend on it.
public struct SmallPackage: Sendable {
    /// The most tiles of its mask.
    public let tiles: UInt64
    /// The most bytes of its different bodies together.
    public let bytes: Int

    /// Sets both limits.
    public init(tiles: UInt64, bytes: Int) { (self.tiles, self.bytes) = (tiles, bytes) }

    /// 8,192 tiles and 4 MiB: a worker merges up to five packages at the same time, each with three times its bodies in memory.
    public static let usual = SmallPackage(tiles: 8_192, bytes: 4 << 20)
    /// No package is small.
    public static let never = SmallPackage(tiles: 0, bytes: 0)

    /// Bytes up to which the file is made in memory; one with many short bodies and long rows may be longer, and goes to the disk.
    var file: Int { 2 * bytes }
}
