internal import Errors
internal import TileBodies

extension FuzzTarget {
    /// Checks a body as a worker does; the first byte selects the declared format and the coding.
    ///
    /// An accepted body is accepted again unchanged, and its layers are the same with and without trust.
    static func tile(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let formats = TileFormat.allCases
        let format = formats[Int(first) % formats.count]
        let coding = [BodyCoding.identity, .gzip, .deflate, .brotli, .zstd][Int(first) / formats.count % 5]
        let memory = LayerCache(limit: 16)
        let checker = BodyChecker(limit: 1 << 20, layers: memory)
        let body: [UInt8]
        do throws(TileBodiesError) {
            body = try checker.check(Array(bytes.dropFirst()), coding: coding, declared: format)
        } catch {
            return .refused("\(error.code)")
        }
        let traits = checker.checkedLayers
        do throws(TileBodiesError) {
            let again = try checker.check(body, coding: format.traits.coding, declared: format)
            guard again == body else { return .wrong("another body came back") }
            guard format.traits.isVector else { return .accepted }
            let scanned = try checker.summary(of: body)
            guard try checker.summary(of: body, isChecked: true) == scanned else {
                return .wrong("trusted reading gives other layers")
            }
            return memory.numbers(of: scanned).map(Set.init) == traits.map(Set.init)
                ? .accepted : .wrong("other layers are remembered")
        } catch {
            return .wrong("a settled body is refused: \(error.code)")
        }
    }

    /// Counts the glyphs of a range.
    static func glyphs(_ bytes: [UInt8]) -> Verdict {
        do {
            return try GlyphScanner.scan(bytes) <= bytes.count ? .accepted : .wrong("more glyphs than bytes")
        } catch {
            return .refused("\(error.code)")
        }
    }
}
