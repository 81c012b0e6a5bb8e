import ArgumentParser
import CommandSupport
import Foundation
import Testing

@testable import Commands

/// Options of services as their commands declare them, and files with them.
struct ConfigurationFileTests {
    /// The description that ArgumentParser gives has every option of the help, and no other.
    @Test(arguments: ServiceRole.allCases)
    func theOptionsAreThoseOfTheHelp(role: ServiceRole) {
        let options = ServiceOption.all(of: role)
        let help = role.command.helpMessage(columns: .max)
        let named = Set(
            help.matches(of: /^ +(?:-\w, )?--([a-z0-9-]+)/.anchorsMatchLineEndings()).map { String($0.output.1) })
        let notInFiles: Set = ["config", "help", "version", "until-input-ends", "dry-run"]
        #expect(Set(options.filter { !$0.isPositional }.map(\.name)) == named.subtracting(notInFiles))
        for option in options {
            guard let variable = option.variable else { continue }
            #expect(help.contains("$\(variable)"), "\(option.name)")
        }
    }

    @Test func theVariablesAreThoseThatTheCommandsRead() {
        let variables = Dictionary(
            ServiceOption.all(of: .worker).map { ($0.name, $0.variable) }, uniquingKeysWith: { first, _ in first })
        #expect(variables["connect"] == "PACKHORSE_WORK")
        #expect(variables["keys"] == "PACKHORSE_KEYS")
        #expect(variables["s3-region"] == "AWS_REGION")
        #expect(variables["slots"] == .some(nil))
    }

    @Test func textStaysAsItIsWritten() {
        let file = ConfigurationFile(
            text: "name: no\nslots: 07\nscratch: ~\ncache: 1e3\n", name: "w.yaml", role: .worker, environment: [:])
        #expect(file.entries.map(\.values) == [["no"], ["07"], ["1e3"]])
        #expect(file.problems.map(\.description) == ["w.yaml:3: scratch: the value is empty"])
    }

    @Test func listsAndMappingsAreRepeatedOptions() {
        let file = ConfigurationFile(
            text: "tileset: [a.yaml, b.yaml]\ncors-origin: https://a.example\ncatalog: /srv/maps\nprivate: true\n",
            name: "g.yaml", role: .gateway, environment: [:])
        #expect(file.problems.isEmpty)
        let words = file.entries.flatMap { EffectiveConfiguration.words($0.option, $0.values) }
        #expect(
            words == [
                "--tileset=a.yaml", "--tileset=b.yaml", "--cors-origin=https://a.example", "/srv/maps", "--private",
            ])
    }

    @Test func aCommandLineIsReadAsTheParserDoes() {
        let given = GivenOptions(
            ["/srv/maps", "--port", "80", "--private", "--tileset=a", "--tileset", "b", "--config", "g.yaml"],
            ServiceOption.all(of: .gateway))
        #expect(given.values["catalog"] == ["/srv/maps"])
        #expect(given.values["port"] == ["80"] && given.values["private"] == ["true"])
        #expect(given.values["tileset"] == ["a", "b"] && given.values["config"] == ["g.yaml"])
    }

    @Test(arguments: [
        ("https://user:word@hooks.example.com/a?b=c", "tileset", "https://…@hooks.example.com/a?…"),
        ("https://hooks.example.com/SECRET", "notify", "https://hooks.example.com/…"),
        ("https://hooks.example.com", "notify", "https://hooks.example.com"),
        ("tcp://127.0.0.1:7470", "connect", "tcp://127.0.0.1:7470"), ("/srv/a?b", "data", "/srv/a?b"),
        ("name=https://u:p@h/x", "also-catalog-url", "name=https://…@h/x"),
    ])
    func addressesAreShownWithoutSecrets(value: String, name: String, shown: String) throws {
        let options = ServiceRole.allCases.flatMap { ServiceOption.all(of: $0) }
        let option = try #require(options.first { $0.name == name })
        #expect(SecretText.hidden(value, option: option) == shown)
    }

    @Test func credentialsAreVariablesByTheirNames() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [("TILES_TOKEN", "word\n"), ("worker.key", "no"), ("EMPTY", "\n")] {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        #expect(CredentialVariables.values(in: folder) == ["TILES_TOKEN": "word"])
    }
}
