import Errors
import Testing
import Tilesets

struct HostPolicyTests {
    @Test(arguments: [
        "https://tile.openstreetmap.org/{z}/{x}/{y}.png", "http://a.tile.openstreetmap.org/{z}/{x}/{y}.png",
        "https://TILE.OpenStreetMap.ORG/", "https://tile.openstreetmap.org./", "https://tile.openstreetmap.org:443/",
        "https://user@tile.openstreetmap.org/", "https://example.org@tile.openstreetmap.org/",
        "https://tile%2Eopenstreetmap%2Eorg/", "https://%74ile.openstreetmap.org/",
        "https://%2574ile.openstreetmap.org/",
        "https://tile\u{3002}openstreetmap\u{FF0E}org/", "https://\u{FF54}ile.openstreetmap.org/",
        "https:\\\\tile.openstreetmap.org\\{z}", "https:tile.openstreetmap.org/", "https:///tile.openstreetmap.org/",
        " https://tile.openstreetmap.org/", "https://tile.openst\u{AD}reetmap.org/", "https://tile.openstreetmap.org?a",
        "https://tile.openstreetmap.org#a", "https://tile.osm.org/", "https://b.tile.openstreetmap.fr/hot/",
        "https://tile.openstreetmap.de/", "https://a.tile.opentopomap.org/", "https://vector.openstreetmap.org/",
    ])
    func hostsThatForbidBulkDownloadsAreRefused(url: String) {
        let error = #expect(throws: TilesetsError.self) { try HostPolicy.check(url) }
        #expect(error?.code == .hostRefused)
        #expect(error?.message.contains("https://") == true)
    }

    @Test(arguments: [
        "https://example.org/tile.openstreetmap.org/{z}", "http://127.0.0.1:8080/",
        "https://openstreetmap.org.example/",
        "http://[::1]:8080/", "http://tiles:8080/", "https://nottile.openstreetmap.org.example.net/",
    ])
    func otherHostsPass(url: String) throws {
        try HostPolicy.check(url)
    }

    @Test(arguments: [
        "ftp://example.org/", "example.org", "", "https://", "https://exa mple.org/", "https://ex%61mple.org/",
        "https:///example.org/", "https://.example.org/",
    ])
    func hostsThatCannotBeToldAreRefused(url: String) {
        let error = #expect(throws: TilesetsError.self) { try HostPolicy.check(url) }
        #expect(error?.code == .badTemplate)
    }

    @Test func subdomainsCannotSmuggleAHostIn() {
        #expect(throws: TilesetsError.self) {
            try URLTemplate("https://{s}.openstreetmap.org/{z}/{x}/{y}", subdomains: ["www", "tile"])
        }
        #expect(throws: TilesetsError.self) {
            try URLTemplate("https://{s}/{z}/{x}/{y}", subdomains: ["tile.openstreetmap.org/x"])
        }
        #expect(throws: TilesetsError.self) { try URLTemplate("https://{language}.example/{z}/{x}/{y}") }
    }
}
