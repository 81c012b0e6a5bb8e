import Digests
import Files

/// The digest of a text, as token files have it.
enum DigestText {
    static func of(_ text: String) -> String { Digest(of: Array(text.utf8)).hex }
}
