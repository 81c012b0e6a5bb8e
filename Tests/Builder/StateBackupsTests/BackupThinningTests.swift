import Testing

@testable import StateBackups

/// Minutes of an hour, hours of a day, days of a month.
struct BackupThinningTests {
    private static let start: Int64 = 1_790_000_000

    /// What is left when a backup is made each minute and surplus ones are removed each time.
    private static func kept(minutes: Int) -> [BackupName] {
        var names: [BackupName] = []
        for minute in 0...minutes {
            let now = start + Int64(minute) * 60
            names.append(BackupName(epoch: 1, number: UInt32(minute + 1), seconds: now))
            guard minute.isMultiple(of: 10) || minute == minutes else { continue }
            let surplus = Set(BackupThinning.surplus(names, now: now))
            names.removeAll(where: surplus.contains)
        }
        return names
    }

    @Test func anHourKeepsEachMinute() { #expect(Self.kept(minutes: 60).count == 61) }

    @Test func aDayKeepsEachHour() throws {
        let names = Self.kept(minutes: 24 * 60)
        #expect((83...85).contains(names.count), "\(names.count)")
        let old = names.filter { names.last!.seconds - $0.seconds > 3_600 }
        #expect(Set(old.map { $0.seconds / 3_600 }).count == old.count)
    }

    @Test func aMonthKeepsEachDay() throws {
        let names = Self.kept(minutes: 40 * 24 * 60)
        #expect((112...117).contains(names.count), "\(names.count)")
        #expect(names.allSatisfy { names.last!.seconds - $0.seconds <= 31 * 86_400 })
    }

    @Test func theNewestStaysHoweverOldItIs() {
        let names = [1, 2].map { BackupName(epoch: 1, number: $0, seconds: 1_000) }
        #expect(BackupThinning.surplus(names, now: 2_000_000_000) == [names[0]])
        #expect(BackupThinning.surplus([], now: 0) == [])
        #expect(BackupThinning.surplus(names, now: 0) == [], "a clock that went back removes nothing")
    }
}
