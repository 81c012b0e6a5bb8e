import Errors
import Foundation
import Testing
import Transfer

@testable import StyleFormat
@testable import Styles

/// A style is untrusted input.
struct HostileStyleTests {
    @Test func noTextTrapsTheReader() {
        let good = Array(StyleServer.style.utf8)
        var random = SystemRandomNumberGenerator()
        for cut in stride(from: 0, to: good.count, by: 7) { _ = try? StyleDocument(Array(good[..<cut])) }
        for _ in 0..<3_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let style = try? StyleDocument(bytes) else { continue }
            _ = try? StyleNeeds(style, base: "http://h/", choice: StyleChoice())
            _ = try? OfflineStyle.relative(style, base: "http://h/") { _ in nil }
            _ = try? OfflineStyle.absolute(style, base: "http://h/")
        }
    }

    @Test func depthsAndCountsAreLimited() {
        let deep = String(repeating: "[", count: 100_000)
        let nested = String(repeating: #"["coalesce","#, count: 400) + "1" + String(repeating: "]", count: 400)
        let many = (0..<300).map { #""s\#($0)": {"type": "vector", "url": "http://h"}"# }.joined(separator: ",")
        let fonts = (0..<100).map {
            #"{"id": "\#($0)", "type": "symbol", "layout": {"text-field": "x", "text-font": ["\#($0)"]}}"#
        }.joined(separator: ",")
        for (text, code) in [
            (deep, StylesError.Code.badStyle), (#"{"sources": {\#(many)}, "layers": []}"#, .tooLarge),
            (#"{"sources": {}, "glyphs": "g", "layers": [\#(fonts)]}"#, .tooLarge),
            (#"{"version": 7, "sources": {}, "layers": []}"#, .badStyle), ("{}", .badStyle), ("", .badStyle),
            (String(repeating: " ", count: StyleDocument.maxBytes + 1), .tooLarge),
        ] {
            #expect { try document(text) } throws: { ($0 as? StylesError)?.code == code }
        }
        #expect((try? style(font: nested))?.fontStacks.isEmpty == true)
    }

    @Test(arguments: [
        ("https://tile.openstreetmap.org/style.json", StylesError.Code.hostRefused),
        ("http://127.0.0.1/x", .hostRefused), ("http://169.254.169.254/latest/meta-data", .hostRefused),
        ("http://printer.local/x", .hostRefused), ("http://[::1]/x", .hostRefused),
        ("https://user:secret@maps.example/x", .badURL),
    ])
    func aPublicStyleReachesPublicHostsOnly(url: String, code: StylesError.Code) throws {
        let policy = try ReferencePolicy(StyleLocation(address: "https://maps.example/style.json"))
        #expect { try policy.request(url) } throws: { ($0 as? StylesError)?.code == code }
        #expect(try policy.request("https://other.example/x") == "https://other.example/x")
        // A style of the own network may name its own network.
        let own = try ReferencePolicy(StyleLocation(address: "http://127.0.0.1/style.json"))
        #expect(try own.request("http://10.0.0.7/x") == "http://10.0.0.7/x")
    }

    @Test func theKeyGoesToItsOwnHostAndIntoNoDocument() throws {
        let policy = try ReferencePolicy(
            StyleLocation(address: "https://maps.example/{language}/s.json?key={key}", key: "abc/12345", language: "de")
        )
        #expect(policy.address == "https://maps.example/de/s.json?key={key}")
        #expect(
            try policy.request("https://maps.example/x?key={key}&é") == "https://maps.example/x?key=abc%2f12345&%c3%a9")
        #expect { try policy.request("https://evil.example/?k={key}") } throws: {
            ($0 as? StylesError)?.code == .hostRefused
        }
        let told = policy.masked(Array(#"{"a": "https://maps.example/?key=abc/12345", "b": "abc%2f12345"}"#.utf8))
        #expect(String(decoding: told, as: UTF8.self) == #"{"a": "https://maps.example/?key={key}", "b": "{key}"}"#)
        #expect { try ReferencePolicy(StyleLocation(address: "https://maps.example/?k={key}")) } throws: {
            ($0 as? StylesError)?.code == .missingSecret
        }
        #expect { try ReferencePolicy(StyleLocation(address: "https://maps.example/?k={key}", key: "short")) } throws: {
            ($0 as? StylesError)?.code == .missingSecret
        }
    }

    @Test func bodiesThatAreSomethingElseAreRefused() {
        let page = Array("<!DOCTYPE html><html><body>Sorry</body></html>".utf8)
        let cut = Array(StyleServer.pixel.dropLast(5))
        for (kind, path, body) in [
            (StyleResource.Kind.source, "a.json", page), (.spriteJSON, "a.json", page), (.spriteImage, "a.png", page),
            (.spriteImage, "a.png", cut), (.glyphs, "a.pbf", page), (.glyphs, "a.pbf", [0x0A, 200, 1]),
            (.data, "a", page),
            (.image, "a", page), (.source, "a", Array(#"{"tiles": []}"#.utf8)), (.glyphs, "a.pbf", []),
        ] {
            let resource = StyleResource(url: "http://h/x", kind: kind, path: path)
            #expect { try ResourceCheck.check(body, resource) } throws: { ($0 as? StylesError)?.code == .badResource }
        }
    }
}
