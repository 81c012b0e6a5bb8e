import Digests
import Errors
import Files
import TileBodies
import Tilesets

extension Tileset {
    /// Judges bodies that the key `reject` lists; `nil` when it lists none.
    var refusal: BodyChecker.Refusal? {
        guard let reject, !reject.isEmpty else { return nil }
        let meanings = Dictionary(reject.map { ($0.sha256, $0.means) }) { first, _ in first }
        return { (body) throws(TileBodiesError) in
            switch meanings[Digest(of: body).hex] {
            case .empty?: throw TileBodiesError(.emptyBody, "the tileset's 'reject' says that this body is no tile")
            case .refused?:
                throw TileBodiesError(.rejectedBody, "the tileset's 'reject' says that this body is a refusal")
            case nil: return
            }
        }
    }
}
