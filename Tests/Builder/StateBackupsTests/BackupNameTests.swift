import Testing

@testable import StateBackups

/// Names say what is newest, and nothing else is taken for a name.
struct BackupNameTests {
    @Test func aNameComesBackFromItsText() throws {
        let name = BackupName(epoch: 12, number: 42, seconds: 1_795_893_300)
        #expect(name.description == "0000000012-0000000042-20261128T191500Z")
        #expect(BackupName(name.description) == name)
        #expect(BackupName("\(BackupName(epoch: .max, number: .max, seconds: .max))")?.seconds == BackupName.lastSecond)
        #expect(BackupName(epoch: 1, number: 1, seconds: -5).seconds == 0)
    }

    @Test(arguments: [
        "", "x", "12-42-20261128T191500Z", "0000000012-0000000042-20261128T191500",
        "0000000012-0000000042-20261328T191500Z",
        "9999999999-0000000042-20261128T191500Z", "+000000012-0000000042-20261128T191500Z",
        "0000000012-0000000042-20261128T191500Z-", "0000000012-0000000042-2026-11-28T19:15Z",
        ".0000000012-0000000042-20261128T191500Z.tmp",
    ])
    func anythingElseIsNoName(text: String) { #expect(BackupName(text) == nil) }

    @Test func aHigherEpochIsNewerWhateverTheClocksSay() {
        let old = BackupName(epoch: 3, number: 900, seconds: 2_000_000_000)
        let new = BackupName(epoch: 4, number: 1, seconds: 1_000_000_000)
        #expect(old < new)
    }

    @Test func aClaimComesBackFromItsText() {
        let claim = PlaceClaim(epoch: 7, run: 0xFF, lineage: .max)
        #expect(claim.description == "0000000007-00000000000000ff-ffffffffffffffff")
        #expect(PlaceClaim(claim.description) == claim)
        for text in [
            "", "7-ff-ff", "0000000007-00000000000000FF-ffffffffffffffff",
            "0000000007-+0000000000000ff-ffffffffffffffff",
        ] {
            #expect(PlaceClaim(text) == nil)
        }
    }
}
