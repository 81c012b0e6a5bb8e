internal import Errors
internal import TextFormats
internal import TileBodies

/// Checks that an answer matches its kind; removes content codings.
package enum ResourceCheck {

    /// The resource's own bytes, without their content coding.
    ///
    /// - Parameters:
    ///   - answer: The body of a server's answer.
    ///   - contentEncoding: Its header of that name.
    /// - Throws: ``StylesError`` `bad-style-resource` or `too-large` naming the URL.
    package static func body(
        of answer: [UInt8], contentEncoding: String?, _ resource: StyleResource
    ) throws(StylesError) -> [UInt8] {
        var body = answer
        guard ContentCodings.named(contentEncoding).allSatisfy({ $0 == "gzip" }) else {
            throw refused(resource, "has a Content-Encoding that was not offered")
        }
        // Some servers store packed files without declaring it.
        if Gzip.isGzip(body) {
            do throws(TileBodiesError) {
                body = try Gzip.decompress(body, limit: resource.kind.maxBytes)
            } catch {
                throw refused(resource, error.message)
            }
        }
        try check(body, resource)
        return body
    }

    /// Checks the bytes of a resource.
    package static func check(_ body: [UInt8], _ resource: StyleResource) throws(StylesError) {
        guard body.count <= resource.kind.maxBytes else {
            throw StylesError(
                .tooLarge,
                "'\(resource.url)' has \(body.count) bytes; the limit for \(resource.kind.rawValue) is "
                    + "\(resource.kind.maxBytes).")
        }
        guard !body.isEmpty else { throw refused(resource, "has no bytes") }
        switch resource.kind {
        case .style: break  // The caller that requested it reads it.
        case .source:
            guard case .object(let values)? = JSONValue(json: body), case .array(let tiles)? = values["tiles"],
                case .string? = tiles.first
            else { throw refused(resource, "is not a TileJSON document with 'tiles'") }
        case .spriteJSON:
            guard case .object? = JSONValue(json: body) else { throw refused(resource, "is not a JSON object") }
        case .data:
            guard let (first, last) = edges(body), first == UInt8(ascii: "{"), last == UInt8(ascii: "}") else {
                throw refused(resource, "is not a GeoJSON object")
            }
        case .spriteImage:
            let settled: [UInt8]
            do throws(TileBodiesError) {
                settled = try BodyChecker().check(body, coding: .identity, declared: .png)
            } catch {
                throw refused(resource, error.message)
            }
            guard settled == body else { throw refused(resource, "is not a plain PNG image") }
        case .glyphs where resource.path.hasSuffix(".pbf"):
            do throws(TileBodiesError) {
                _ = try GlyphScanner.scan(body)
            } catch {
                throw refused(resource, error.message)
            }
        case .glyphs, .image:
            guard edges(body)?.first != UInt8(ascii: "<") else { throw refused(resource, "is a web page or an SVG") }
        }
    }

    private static func refused(_ resource: StyleResource, _ reason: String) -> StylesError {
        StylesError(.badResource, "'\(resource.url)' \(reason); expected \(resource.kind.rawValue).")
    }

    /// The first and last byte that are not white space, after a byte order mark.
    private static func edges(_ body: [UInt8]) -> (first: UInt8, last: UInt8)? {
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...]
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = text.first(where: { !isSpace($0) }), let last = text.last(where: { !isSpace($0) }) else {
            return nil
        }
        return (first, last)
    }
}
