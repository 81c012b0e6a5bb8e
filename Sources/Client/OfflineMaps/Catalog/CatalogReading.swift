internal import CatalogFormat
internal import Errors
internal import TextFormats

/// The largest sequences that a device has seen, by the address of a catalog and by the id of a key.
///
/// They stay when the catalog is removed, so that an older catalog is refused later too.
struct KnownSequences: Sendable, Hashable {
    var byAddress: [String: Int64] = [:]
    var byKey: [String: Int64] = [:]

    /// The largest sequence of an address or a key.
    func largest(address: String, key: String?) -> Int64? {
        [byAddress[address], key.flatMap { byKey[$0] }].compactMap { $0 }.max()
    }
}

/// A catalog whose document, signature and sequence were checked.
struct VerifiedCatalog: Sendable {
    var content: CatalogContent
    /// The id of the key that signed it; `nil` when signatures are not asked for.
    var key: String?
    /// The catalog's age as a number that grows.
    var sequence: Int64?
}

/// Decides whether the bytes of `catalog.json` are a catalog that this device accepts.
enum CatalogReading {
    /// Checks the signature, the document and the sequence, in this order, so that nothing of an unsigned document is
    /// decoded when keys are given.
    ///
    /// - Parameters:
    ///   - bytes: `catalog.json`.
    ///   - signature: `catalog.json.sig`; `nil` when the server has none.
    ///   - trust: The keys, one of which must have signed it.
    ///   - address: The catalog's address.
    ///   - known: What this device has seen.
    ///   - allowOlder: Whether a person allows a catalog that is older than the known one.
    /// - Throws: `connection` for a web page instead of a catalog, `badSignature`, `badCatalog`, `olderCatalog`,
    ///   `invalidArguments` for an invalid key.
    static func read(
        _ bytes: [UInt8], signature: [UInt8]?, trust: Trust, address: String, known: KnownSequences,
        allowOlder: Bool = false
    ) throws(StoreError) -> VerifiedCatalog {
        guard !isPage(bytes) else {
            throw StoreError.failing(
                .connection, "The answer of '\(address)' is a web page, not a catalog.",
                advice: "The network may ask for a login: open a web page in a browser, then try again.")
        }
        guard bytes.count <= CatalogIndex.maxBytes else {
            throw StoreError.failing(
                .badCatalog, "The catalog has \(bytes.count) bytes; at most \(CatalogIndex.maxBytes) are read.")
        }
        let key = try check(bytes, signature: signature, trust: trust, address: address)
        let index: CatalogIndex
        let content: CatalogContent
        do {
            index = try CatalogIndex(decoding: bytes)
            content = try CatalogContent(index)
        } catch let error as CatalogValidationError {
            throw StoreError.failing(
                .badCatalog, "The catalog of '\(address)' is not accepted: \(error.text).", below: error.below)
        } catch {
            throw StoreError.failing(
                .badCatalog, "The catalog of '\(address)' is not accepted: \(message(error))", below: error)
        }
        let seen = known.largest(address: address, key: key)
        if let seen, index.sequence ?? -1 < seen, !allowOlder {
            throw StoreError.failing(
                .olderCatalog,
                "The catalog of '\(address)' is older than the known one: its sequence is "
                    + "\(index.sequence.map(String.init) ?? "not given"), the known one is \(seen).",
                advice: "Try again when the server has the new catalog, or allow the older one.")
        }
        return VerifiedCatalog(content: content, key: key, sequence: index.sequence)
    }

    /// - Returns: The id of the key that signed the bytes; `nil` when no signature is asked for.
    private static func check(
        _ bytes: [UInt8], signature: [UInt8]?, trust: Trust, address: String
    ) throws(StoreError) -> String? {
        let texts: [String]
        switch trust {
        case .unsigned: return nil
        case .keys(let keys): texts = keys
        }
        var keys: [CatalogPublicKey] = []
        for text in texts {
            do throws(CatalogError) { keys.append(try CatalogPublicKey(text)) } catch {
                throw StoreError.failing(.invalidArguments, error.message, below: error)
            }
        }
        guard !keys.isEmpty else {
            throw StoreError.failing(.invalidArguments, "No key is given: give one, or allow unsigned catalogs.")
        }
        guard let signature else {
            throw StoreError.failing(
                .badSignature, "The catalog of '\(address)' is not signed, but a signature is required.",
                advice: "Ask the publisher for '\(CatalogIndex.signatureName)'.")
        }
        do throws(CatalogError) {
            let signed = try CatalogSignature(decoding: signature)
            guard let key = keys.first(where: { $0.id == signed.keyID }) else {
                throw CatalogError(
                    .badSignature, "The catalog is signed with key \(signed.keyID.prefix(40)), which is not trusted.")
            }
            try signed.check(bytes, by: key)
            return key.id
        } catch {
            throw StoreError.failing(
                .badSignature, "The catalog of '\(address)' is refused: \(Sentence.inner(error.message))", below: error)
        }
    }

    /// Whether the signature file is for another document: both are being replaced now, and reading them again helps.
    static func isBetween(_ bytes: [UInt8], _ signature: [UInt8]) -> Bool {
        // What is no signature proves nothing.
        guard let signed = try? CatalogSignature(decoding: signature) else { return false }
        return !signed.names(bytes)
    }

    /// Whether the first character is `<`, as in the page of a network that asks for a login.
    private static func isPage(_ bytes: [UInt8]) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        return text.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }

    private static func message(_ error: any Error) -> String { (error as? CatalogError)?.message ?? "\(error)" }
}
