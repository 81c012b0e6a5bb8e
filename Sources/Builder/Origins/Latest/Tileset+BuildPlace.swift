import Digests
import Files
import Tilesets

extension Tileset {
    /// A short name of the address that a build is read from, equal on every machine; `nil` for sources whose address stays.
    ///
    /// Validators of servers are compared under one of these alone.
    var buildPlace: String? {
        guard let build else { return nil }
        return String(Digest(of: Array("\(build.name)\n\(source.address)".utf8)).hex.prefix(16))
    }
}
