import Errors
import Foundation
import Logging
import Synchronization
import Testing
import Tilesets

@testable import Gateway

@Suite(.timeLimit(.minutes(15))) struct OfferedTilesetsTests {
    private enum Reason: String, ErrorCode {
        case away, wrong
        var exitStatus: Errors.ExitStatus { self == .away ? .unavailable : .configuration }
    }

    private final class Attempts: Sendable {
        private let count = Mutex(0)
        var made: Int { count.withLock { $0 } }
        /// The number of this attempt, from 1.
        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private static func tileset(_ id: String) throws -> Tileset {
        try TilesetFile(
            text: "id: \(id)\nurl: http://127.0.0.1:9/{z}/{x}/{y}.pbf\nformat: pbf\nzoom: 0-4\n", name: "a.yaml",
            folder: FileManager.default.temporaryDirectory
        ).resolved()
    }

    private static func offered(_ sources: TilesetSource...) -> OfferedTilesets {
        OfferedTilesets(sources, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func aTilesetWhoseServerIsAwayComesLater() async throws {
        let attempts = Attempts()
        let (near, far) = (try Self.tileset("near"), try Self.tileset("far"))
        let offered = Self.offered(
            TilesetSource {
                if attempts.next() < 2 { throw PackhorseError(Reason.away, "The server of 'far' is away.") }
                return far
            }, TilesetSource { near })
        try await offered.readAtStart()
        #expect(offered.all.map(\.id) == ["near"] && offered.missing == ["The server of 'far' is away."])
        let caller = Caller()
        #expect(try offered.find("near", for: caller).id == "near")
        let error = #expect(throws: Problem.self) { try offered.find("far", for: caller) }
        #expect(error?.code == .tilesetAway && error?.retryAfter == 10)
        await offered.readMissing()
        #expect(offered.all.map(\.id) == ["far", "near"] && offered.missing.isEmpty)
        #expect(attempts.made == 2)
        let unknown = #expect(throws: Problem.self) { try offered.find("other", for: caller) }
        #expect(unknown?.code == .wrongRequest)
    }

    @Test func aWrongDescriptionEndsTheStart() async throws {
        let offered = Self.offered(TilesetSource { throw PackhorseError(Reason.wrong, "It has no zoom.") })
        await #expect(throws: PackhorseError<Reason>.self) { try await offered.readAtStart() }
    }

    @Test func aServerThatDoesNotAnswerDelaysTheStartForSecondsOnly() async throws {
        let offered = Self.offered(
            TilesetSource {
                try await Task.sleep(for: .seconds(600))
                return try Self.tileset("never")
            })
        let begin = ContinuousClock.now
        try await offered.readAtStart()
        #expect(ContinuousClock.now - begin < .seconds(30))
        #expect(offered.all.isEmpty && offered.missing == ["The tile server has not answered yet."])
    }
}
