import Errors
import S3
import Testing

@testable import ObjectStore

/// What needs no server.
struct S3ValueTests {
    @Test(arguments: [
        ("s3://tiles", "tiles", ""), ("s3://tiles/", "tiles", ""), ("S3://my.tiles/a/b/", "my.tiles", "a/b"),
        ("s3://tiles/packhorse-1", "tiles", "packhorse-1"),
    ])
    func aLocationIsABucketAndAPrefix(text: String, bucket: String, prefix: String) throws {
        let location = try S3Location(text)
        #expect(location.bucket == bucket && location.prefix == prefix)
        #expect(location.key("x") == (prefix.isEmpty ? "x" : prefix + "/x"))
    }

    @Test(arguments: ["tiles", "s3://", "s3://ab", "s3://a..b", "s3://tiles//a", "s3://tiles/a/../b", "s3://ti les/a"])
    func otherLocationsAreRefused(text: String) {
        #expect(throws: S3Error.self) { try S3Location(text) }
    }

    @Test(arguments: ["http://127.0.0.1:8090", "http://localhost", "http://[::1]:9000/", "https://s3.example.org"])
    func endpointsOnThisMachineOrByTLSAreTaken(url: String) throws {
        _ = try S3Endpoint(url)
    }

    @Test func plainHTTPBeyondThisMachineNeedsPermission() throws {
        let error = #expect(throws: S3Error.self) { try S3Endpoint("http://10.0.0.5:9000") }
        #expect(error?.code == .plainRefused && error?.message.contains("--insecure-s3") == true)
        #expect(try S3Endpoint("http://10.0.0.5:9000", allowPlain: true).url == "http://10.0.0.5:9000")
        #expect(throws: S3Error.self) { try S3Endpoint("http://127.0.0.1.example.org") }
    }

    @Test(arguments: ["ftp://x", "s3.example.org", "https://a@b", "https://x/path", "https://x?q", "https://"])
    func otherEndpointsAreRefused(url: String) {
        let error = #expect(throws: S3Error.self) { try S3Endpoint(url) }
        #expect(error?.code == .badLocation)
    }

    @Test func credentialsComeFromTheEnvironmentAndAreNeverPrinted() throws {
        let all = ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "hidden"]
        let credentials = try S3Credentials(environment: all)
        var dumped = "\(credentials) \(String(reflecting: credentials))"
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("hidden") && !dumped.contains("tester"))
        let error = #expect(throws: S3Error.self) { try S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "a"]) }
        #expect(error?.code == .missingSecret && error?.message.contains("AWS_SECRET_ACCESS_KEY") == true)
        #expect(throws: S3Error.self) {
            try S3Credentials(environment: all.merging(["AWS_SECRET_ACCESS_KEY": "hidden\n"]) { $1 })
        }
    }

    @Test func queriesAreSortedAndEveryKeyHasItsSign() {
        #expect(
            S3Text.query([("uploads", ""), ("max-keys", "2"), ("prefix", "a/b c")])
                == "?max-keys=2&prefix=a%2Fb%20c&uploads=")
        #expect(S3Text.query([]).isEmpty)
        #expect(S3Text.path("a/b c+ü~") == "a/b%20c%2B%C3%BC~")
    }

    @Test func aListIsRead() {
        let xml = """
            <?xml version='1.0' encoding='UTF-8'?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><KeyCount>2</KeyCount>
            <Contents><Key>p/a&amp;&#x62;</Key><LastModified>2026-11-21T03:29:37.000Z</LastModified><Size>12</Size></Contents>
            <Contents><Key>p/c</Key><LastModified>2026-11-21T03:29:37Z</LastModified><Size>0</Size></Contents>
            <Contents><Key>other</Key><Size>0</Size></Contents><Contents><Key>p/d</Key><Size>x</Size></Contents>
            <IsTruncated>true</IsTruncated><NextContinuationToken>n&gt;</NextContinuationToken></ListBucketResult>
            """
        let page = S3Page(
            S3Document(Array(xml.utf8)), prefix: "p/", serverDate: "Sat, 21 Nov 2026 03:29:38 GMT")
        #expect(page.objects.map(\.name) == ["a&b", "c"])
        #expect(page.objects.map(\.size) == [12, 0])
        #expect(page.objects.allSatisfy { $0.stored == 1_795_231_777 })
        #expect(page.next == "n>" && page.serverTime == 1_795_231_778)
    }

    @Test(arguments: [
        "", "<", "<Key", "<Key>", "</Key>", "<Key>&#xFFFFFFFFFF;&#xD800;&;&</Key>", "<Key/>", "<Contents><Key>",
    ])
    func brokenDocumentsGiveNothingAndDoNotTrap(text: String) {
        let document = S3Document(Array(text.utf8))
        _ = document.all("Key").map(\.text)
        #expect(document.all("Contents").isEmpty)
    }
}
