import Errors
import Testing

@testable import Wire

struct WireVersionTests {
    @Test func theHighestCommonMinorIsChosen() throws {
        #expect(try WireVersion.negotiate(minimum: 0, maximum: 9) == WireVersion.minors.upperBound)
        #expect(try WireVersion.negotiate(minimum: 1, maximum: 3, own: 2...5) == 3)
        #expect(try WireVersion.negotiate(minimum: 2, maximum: .max, own: 2...255) == 255)
    }

    @Test(arguments: [(6, 9), (0, 1)] as [(UInt32, UInt32)])
    func rangesThatDoNotMeetAreRefusedWithBoth(minimum: UInt32, maximum: UInt32) throws {
        let error = #expect(throws: WireError.self) {
            try WireVersion.negotiate(minimum: minimum, maximum: maximum, own: 2...5)
        }
        #expect(error?.code == .versionMismatch)
        #expect(error?.message.contains("1.2 to 1.5") == true)
    }

    @Test func aReversedRangeIsRefused() {
        let error = #expect(throws: WireError.self) { try WireVersion.negotiate(minimum: 2, maximum: 1) }
        #expect(error?.code == .badValue)
    }

    @Test func onlyTheFirstMinorIsSpokenBeforeTheFirstRelease() throws {
        #expect(WireVersion.minors == 0...0)
        #expect(try WireVersion.negotiate(minimum: 0, maximum: 0) == 0)
        #expect(MessageType.allCases.allSatisfy { WireVersion.minors.contains($0.minor) })
    }
}
