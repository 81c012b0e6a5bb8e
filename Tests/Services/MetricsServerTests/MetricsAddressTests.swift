import Testing

@testable import MetricsServer

struct MetricsAddressTests {
    @Test(arguments: [
        "127.0.0.1:9470", "localhost:1", "[::1]:9470", "0.0.0.0:0", "host-1.example:65535", "unix:/run/a",
    ])
    func addressesAreRead(text: String) throws {
        #expect(try #require(MetricsAddress(text)).description == text)
    }

    @Test(arguments: [
        "", "9470", ":9470", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "::1:9470",
        "tcp://127.0.0.1:9470", "*:9470", "a b:1", "unix:", "unix:metrics",
        "unix:/" + String(repeating: "a", count: 107),
    ])
    func otherTextsAreNot(text: String) { #expect(MetricsAddress(text) == nil) }

    @Test func whatOtherMachinesReachIsKnown() {
        for text in ["127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1", "unix:/a"] {
            #expect(MetricsAddress(text)?.isLocal == true, "\(text)")
        }
        for text in ["0.0.0.0:1", "[::]:1", "10.0.0.5:1", "host:1"] {
            #expect(MetricsAddress(text)?.isLocal == false, "\(text)")
        }
    }
}
