import Foundation
import OfflineMaps
import Testing

@testable import DeviceCommands

/// docs/reference/json.md lists the words of the code.
struct DocumentTests {
    private func words(_ begin: String) throws -> [String] {
        let text = try String(contentsOf: URL(filePath: "docs/reference/json.md"), encoding: .utf8)
        let line = try #require(text.components(separatedBy: begin).dropFirst().first)
        let end = try #require(line.firstRange(of: /\.\n| \|\n/)?.lowerBound)
        return line[..<end].matches(of: /`([a-z-]+)`/).map { String($0.1) }
    }

    @Test func causesAndKindsAreThoseOfTheLibrary() throws {
        #expect(try words("\nCauses: ") == FailureCause.allCases.map(\.rawValue))
        let task = try words("| `task`, `priority` | number; below 0 is paused |\n| `kind` | ")
        #expect(Set(task) == Set(TaskKind.allCases.map(\.rawValue)))
    }
}
