package import Digests
public import Errors
internal import Files
internal import Foundation

/// `catalog.json.sig`: Ed25519 signatures of `catalog.json`, byte for byte as it is served.
///
/// It also holds the signature of the previous catalog, and is replaced first. So a client that reads `catalog.json`
/// and then this file finds a signature for what it read, even while a new catalog is published.
public struct CatalogSignature: Sendable, Hashable, Codable {
    /// One signed `catalog.json`.
    public struct Signed: Sendable, Hashable, Codable {
        /// SHA-256 of the signed bytes, 64 lower-case hexadecimal digits; selects the signature to check.
        public let sha256: String
        /// The 64 bytes of the signature, in base64.
        public let signature: String
    }

    /// `ed25519`.
    public let algorithm: String
    /// Which key signed: the first 16 hexadecimal digits of the SHA-256 of the public key.
    public let keyID: String
    /// The newest first.
    public let signatures: [Signed]

    private enum CodingKeys: String, CodingKey {
        case algorithm
        case keyID = "key_id"
        case signatures
    }

    /// Signs bytes with this digest.
    ///
    /// `earlier` is the existing file; its newest signature is kept if it is from the same key.
    package init(signing bytes: [UInt8], _ digest: Digest, with key: CatalogSecretKey, earlier: CatalogSignature?)
        throws(CatalogError)
    {
        algorithm = "ed25519"
        let own = try key.publicKey.id
        let new = Signed(
            sha256: digest.hex, signature: Data(try key.sign(bytes)).base64EncodedString())
        let old = earlier.flatMap { $0.keyID == own ? $0.signatures.first { $0.sha256 != new.sha256 } : nil }
        keyID = own
        signatures = [new] + (old.map { [$0] } ?? [])
    }

    /// The bytes of a file with these signatures and those of an earlier file of the same key, at most four: a reader who has
    /// the earlier list in hand finds its signature too.
    package func keeping(_ earlier: CatalogSignature) throws(CatalogError) -> [UInt8] {
        let known = Set(signatures.map(\.sha256))
        let old = earlier.keyID == keyID ? earlier.signatures.filter { !known.contains($0.sha256) } : []
        return try CatalogJSON.encode(
            CatalogSignature(algorithm: algorithm, keyID: keyID, signatures: Array((signatures + old).prefix(4))),
            named: CatalogIndex.signatureName)
    }

    private init(algorithm: String, keyID: String, signatures: [Signed]) {
        (self.algorithm, self.keyID, self.signatures) = (algorithm, keyID, signatures)
    }

    /// Reads the file.
    ///
    /// - Throws: `bad-signature` for anything else.
    public init(decoding bytes: [UInt8]) throws(CatalogError) {
        // The parser's error is not for users; the error below says what to do.
        guard bytes.count <= 1 << 16, let value = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
            value.algorithm == "ed25519", value.signatures.count <= 16
        else { throw CatalogError(.badSignature, "'catalog.json.sig' is not a signature file of this format.") }
        self = value
    }

    /// Whether the file has a signature for these bytes, valid or not.
    public func names(_ bytes: [UInt8]) -> Bool {
        let hex = Digest(of: bytes).hex
        return signatures.contains { $0.sha256 == hex }
    }

    /// Proves that the holder of a key signed the bytes.
    ///
    /// - Throws: `bad-signature`; the message says whether the key, the bytes or the signature differs.
    public func check(_ bytes: [UInt8], by key: CatalogPublicKey) throws(CatalogError) {
        guard keyID == key.id else {
            throw CatalogError(
                .badSignature, "The catalog is signed with key \(keyID), not with the expected \(key.id).")
        }
        let digest = Digest(of: bytes)
        guard let signed = signatures.first(where: { $0.sha256 == digest.hex }) else {
            throw CatalogError(
                .badSignature,
                "'catalog.json' (SHA-256 \(digest)) is not the signed document: it was changed, or it is being replaced now. Try again."
            )
        }
        guard let signature = Data(base64Encoded: signed.signature), key.isValid(Array(signature), for: bytes) else {
            throw CatalogError(
                .badSignature, "The signature of 'catalog.json' is not valid: it was not made by key \(keyID).")
        }
    }
}
