internal import Errors
internal import Foundation
internal import StyleFormat
internal import Tilesets

/// Which addresses a style may request, and with which secrets.
///
/// A style is untrusted. It must not use hosts that forbid bulk downloads, must not lead from a public server into the
/// user's private network, and must not send the key to another host than its own.
struct ReferencePolicy: Sendable {
    /// The style's address with `{language}` filled and `{key}` as it is; `nil` when it has none.
    let address: String?
    private let home: String?
    private let isHomePublic: Bool
    private let key: String?
    /// A shorter key cannot be distinguished from other text.
    static let shortestKey = 8

    /// - Throws: ``StylesError`` `missing-secret`, `bad-url`, `host-refused`.
    init(_ location: StyleLocation) throws(StylesError) {
        var address = location.address
        if let text = address, text.contains("{language}") {
            guard let language = location.language, Self.isLanguage(language) else {
                throw StylesError(.missingSecret, "The style's address has {language}; pass --language, such as en.")
            }
            address = text.replacing("{language}", with: language)
        }
        if let key = location.key, key.utf8.count < Self.shortestKey {
            throw StylesError(
                .missingSecret,
                "The key has fewer than \(Self.shortestKey) characters; such a key cannot be kept secret.")
        }
        key = location.key
        let absolute = try address.map { (text) throws(StylesError) in try URLReference.resolve(text, against: nil) }
        self.address = absolute
        home = absolute.flatMap { URLReference.authority(of: $0) }
        isHomePublic = absolute.flatMap { HostPolicy.isPrivate($0) } == false
        if let absolute { _ = try request(absolute) }
    }

    /// The address to send: the key filled in, other than ASCII percent-encoded.
    ///
    /// - Throws: ``StylesError`` `host-refused`, `bad-url`, `missing-secret`.
    func request(_ url: String) throws(StylesError) -> String {
        try check(url)
        var filled = url
        if url.contains("{key}") {
            guard let key else {
                throw StylesError(
                    .missingSecret, "'\(URLReference.shown(url))' needs a key; pass --key-env with its variable's name."
                )
            }
            guard URLReference.authority(of: url) == home else {
                throw StylesError(
                    .hostRefused,
                    "'\(URLReference.shown(url))' contains {key}, but is on another host than the style; the key is not sent."
                )
            }
            filled = url.replacing("{key}", with: GlyphRanges.encoded(key))
        }
        return filled.unicodeScalars.map { $0.isASCII ? String($0) : GlyphRanges.encoded(String($0)) }.joined()
    }

    /// Refuses hosts that may not be used; also checks redirects.
    func check(_ url: String) throws(StylesError) {
        do throws(TilesetsError) {
            try HostPolicy.check(url)
        } catch {
            throw StylesError(error.code == .hostRefused ? .hostRefused : .badURL, error.message, cause: error)
        }
        if isHomePublic, HostPolicy.isPrivate(url) != false {
            throw StylesError(
                .hostRefused,
                "'\(URLReference.shown(url))' is in a private network, but the style is public; it is not requested.")
        }
    }

    /// Puts `{key}` wherever a document repeats the key.
    func masked(_ bytes: [UInt8]) -> [UInt8] {
        guard let key else { return bytes }
        var text = bytes
        for form in Set([key, GlyphRanges.encoded(key)]).sorted(by: { $0.utf8.count > $1.utf8.count }) {
            text = text.replacing(Array(form.utf8), with: Array("{key}".utf8))
        }
        return text
    }

    private static func isLanguage(_ text: String) -> Bool {
        (1...35).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }
}
