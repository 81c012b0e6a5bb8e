import Errors
import Foundation
import TestSupport
import Testing
import Transfer

@testable import Notifications

/// What is sent, and to whom.
struct NotificationTests {
    /// The expected value is that of Python's hmac.
    @Test func theSignatureIsThatOfOtherPrograms() {
        let secret = Array("0123456789abcdef".utf8)
        let text = NotificationSignature.text(Array(#"{"id":"x"}"#.utf8), timestamp: 1_764_000_000, secret: secret)
        #expect(text == "v1=3d54ab12e51fcd42fe8f663d0f567b4b89a878fcaf3a6ebc99e49fb3575c925b")
    }

    @Test func theJSONHasTheDocumentedKeysAndIsReadBack() throws {
        var content = EventNotification(
            id: "0a", seq: 7, kind: .packagePublished, wall: 1_764_000_000_123, state: "published", text: "job 3 …")
        content.job = 3
        content.package = EventNotification.Package(
            id: "EE", version: 2, size: 10, tiles: 4, sha256: "ff", path: "packages/2/EE.mbtiles",
            url: "https://maps.example.com/packages/2/EE.mbtiles",
            files: [EventNotification.File(format: "pmtiles", size: 9, sha256: "ee", path: nil)])
        let json = try content.json()
        #expect(try EventNotification(json: Data(json)) == content)
        let text = String(decoding: json, as: UTF8.self)
        #expect(
            text.hasPrefix(#"{"id":"0a","job":3,"kind":"package-published","package":{"files":[{"format":"pmtiles","#))
        #expect(text.contains(#""time":"2025-11-24T16:00:00.123Z""#), "\(text)")
        #expect(!text.contains("reason") && !text.contains("origin"), "a member without a value is left out")
        #expect(!text.contains("\n"))
    }

    /// docs/reference/notifications.md names every key and no other.
    @Test func theReferenceNamesEveryKey() throws {
        var content = EventNotification(id: "a", seq: 1, kind: .jobFailed, wall: 0, state: "failed", text: "t")
        content.job = 1
        content.schedule = "s"
        content.catalog = "main"
        content.reason = "r"
        content.package = EventNotification.Package(
            id: "EE", version: 1, size: 1, tiles: 1, sha256: "s", path: "p", url: "u",
            files: [EventNotification.File(format: "f", size: 1, sha256: "s", path: "p")])
        content.origin = EventNotification.Origin(name: "n", reason: "r", seconds: 1)
        var keys: Set<String> = []
        func visit(_ value: Any, _ prefix: String) {
            for one in value as? [Any] ?? [] { visit(one, prefix) }
            for (name, child) in value as? [String: Any] ?? [:] {
                keys.insert(prefix + name)
                visit(child, prefix + name + ".")
            }
        }
        visit(try JSONSerialization.jsonObject(with: Data(try content.json())), "")
        // Objects with only single values are named by these.
        keys.subtract(["package", "origin"])

        let file = Checkout.folder.appending(path: "docs/reference/notifications.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix("Fields") })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let named = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").enumerated().filter { $0.offset % 2 == 1 }
                .map { String($0.element) }
        }
        #expect(Set(named) == keys, "\(Set(named).symmetricDifference(keys))")
    }

    /// A command gets the whole JSON through a pipe before it reads any of it.
    @Test(arguments: ["x", "\u{1}", "e\u{301}", "\u{1F1EA}"])
    func aLongTextIsCutSoThatTheJSONFitsAPipe(part: String) throws {
        // One character of a hundred thousand marks, too.
        for long in [String(repeating: part, count: 100_000), part + String(repeating: "\u{301}", count: 100_000)] {
            var content = EventNotification(id: "", seq: 1, kind: .jobFailed, wall: 0, state: "failed", text: long)
            content.reason = EventNotification.shortened(long)
            #expect(content.text.utf8.count > EventNotification.maxBytes - 4)
            #expect(content.text.utf8.count <= EventNotification.maxBytes && long.utf8.starts(with: content.text.utf8))
            #expect(try content.json().count < 60_000)
        }
    }

    /// Nothing that may be secret is printed, not even by a dump.
    @Test func theAddressOfAReceiverStaysSecret() throws {
        let address = "https://user:pa%20ss@hooks.example.com:8443/services/T00/SECRET?token=SECRET"
        let receiver = try NotificationReceiver(address, secret: Array("0123456789abcdef".utf8))
        #expect("\(receiver)" == "https://hooks.example.com:8443")
        #expect(String(reflecting: receiver) == "https://hooks.example.com:8443")
        #expect(receiver.url == "https://hooks.example.com:8443/services/T00/SECRET?token=SECRET")
        #expect(receiver.authorization?.value == "Basic dXNlcjpwYSBzcw==")
        #expect(!receiver.id.contains("SECRET") && receiver.id.count == 64)
        #expect(try NotificationReceiver("http://[::1]:80/a").place == "http://[::1]:80")
    }

    @Test(arguments: [
        "", "hooks.example.com", "ftp://a/", "http://", "https://a/b#c", "https://a b/", "file:///etc",
        "http://a:99999/",
    ])
    func anAddressThatIsNoneIsRefused(_ address: String) {
        let error = #expect(throws: NotificationError.self) { try NotificationReceiver(address) }
        #expect(error?.code == .badReceiver)
    }

    @Test func aShortSecretIsRefused() {
        let error = #expect(throws: NotificationError.self) {
            try NotificationReceiver("http://127.0.0.1/", secret: Array("short".utf8))
        }
        #expect(error?.code == .badSecret)
        #expect(error?.message.contains("short ") == false)
    }

    @Test func kindsAreReadFromAList() throws {
        #expect(try NotificationKind.set("job-done, origin-blocked") == [.jobDone, .originBlocked])
        let error = #expect(throws: NotificationError.self) { try NotificationKind.set("job-done,job-lost") }
        #expect(error?.message.contains("'job-lost'") == true && error?.message.contains("job-cancelled") == true)
        #expect(throws: NotificationError.self) { try NotificationKind.set("") }
    }
}
