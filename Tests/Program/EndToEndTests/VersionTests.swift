import Foundation
import TestSupport
import Testing

/// `--version` with the commit, and where a build has it from.
struct VersionTests {
    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test(.timeLimit(.programs))
    func theVersionIsOneLineAndAJSONDocument() async throws {
        let scratch = try Scratch()
        let line = try await Program.run(["--version"], in: scratch)
        #expect(
            line.output.wholeMatch(
                of: /packhorse \d+\.\d+\.\d+( \([0-9a-f]{12}, \d{4}-\d\d-\d\d(, modified)?\))?\n/) != nil,
            "\(line.output)")
        struct Document: Decodable { let version: String, commit: String?, date: String?, modified: Bool }
        let json = try await Program.run(["--version", "--json"], in: scratch)
        let document = try JSONDecoder().decode(Document.self, from: Data(json.output.utf8))
        #expect(line.output.hasPrefix("packhorse \(document.version)"))
        #expect((document.commit == nil) == (document.date == nil))
    }

    /// Compiles the file that has the commit, in the ways a build does.
    @Test(
        .timeLimit(.programs),
        .enabled(if: FileManager.default.fileExists(atPath: repository.path + "/.git"), "no git tree"))
    func aBuildKnowsItsCommitFromTheVariableAndFromAnArchive() async throws {
        let scratch = try Scratch()
        let script = """
            set -eu
            cd "$0"
            main='#include <stdio.h>
            #include "CBuildCommit.h"
            int main(void) { puts(packhorse_build_commit()); }'
            printf '%s\\n' "$main" >"$1/main.c"
            from=Sources/CLibraries/CBuildCommit
            compile() { cc -I"$1" "$scratch/main.c" "$1/commit.c" "${@:2}" -o "$scratch/program" && "$scratch/program"; }
            scratch=$1
            git show -s --format='%H %cs' HEAD
            git archive HEAD $from .gitattributes | tar -x -C "$1"
            compile "$1/$from"
            compile $from -DPACKHORSE_COMMIT="\\"$(git show -s --format='%H %cs' HEAD)\\""
            echo "without: $(compile $from)"
            """
        let outcome = try await Program.run(
            URL(filePath: "/bin/bash"), ["-c", script, Self.repository.path, scratch.folder.path], in: scratch)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[1] == lines[0] && lines[2] == lines[0] && lines[3] == "without: ", "\(lines)")
        let said = try await Program.run(
            URL(filePath: "/bin/bash"), [Self.repository.appending(path: "ops/commit").path], in: scratch)
        #expect(said.output.hasPrefix(lines[0]), "\(said.output)")
    }
}
