import Catalog
import CatalogFormat
import Errors
import Testing

/// How the steps after a job are written.
struct CatalogStepTests {
    @Test func everyKindIsReadAndWritten() throws {
        let texts = [
            "push=/srv/www", "push=s3://maps/offline", "push=/a=b", "prune=1", "prune=1000", "verify", "promote=live",
        ]
        #expect(try texts.map { try CatalogStep(parsing: $0).description } == texts)
        #expect(try CatalogStep(parsing: "prune=3") == .prune(keep: 3))
        #expect(try CatalogStep(parsing: "promote=main") == .promote(into: "main"))
        let words = Set(texts.map { String($0.prefix { $0 != "=" }) })
        #expect(words == Set(CatalogStep.kinds.map(\.word)), "each kind has a row here")
    }

    @Test(arguments: [
        "", "=", "pusch=/srv", "Verify", "verify=", "verify=1", "push", "push=", "prune", "prune=", "prune=0",
        "prune=-1",
        "prune=1001", "prune=3.5", "prune=99999999999999999999", "promote", "promote=", "promote=Live", "promote=a/b",
        "promote=../x", " verify",
    ])
    func everythingElseIsRefused(_ text: String) throws {
        let error = try #require(throws: CatalogError.self) { try CatalogStep(parsing: text) }
        #expect(error.code == .badRequest)
        let known = CatalogStep.kinds.contains { $0.word == text.prefix { $0 != "=" } }
        #expect(known == error.message.contains("Step '"), "\(error.message)")
        #expect(known == (error.hint == nil), "an unknown word gets the list of the steps")
    }
}
