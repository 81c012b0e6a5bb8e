import Digests
import Foundation
import Scheduling
import Testing

struct ScheduleTests {
    private func wall(_ text: String) throws -> Int64 {
        let format = ISO8601DateFormatter()
        return Int64(try #require(format.date(from: text + ":00Z")).timeIntervalSince1970 * 1_000)
    }

    @Test(arguments: [
        ("monthly 3 02:30", "2026-11-21T03:00", "2026-12-03T02:30"),
        ("monthly 3 02:30", "2026-12-03T02:29", "2026-12-03T02:30"),
        ("monthly 3 02:30", "2026-12-03T02:30", "2027-01-03T02:30"),
        ("monthly 31 00:00", "2028-02-01T00:00", "2028-02-29T00:00"),
        ("monthly 31 00:00", "2100-02-28T00:00", "2100-03-31T00:00"),
        ("monthly 31 00:00", "2026-02-28T00:00", "2026-03-31T00:00"),
        ("weekly mon 04:00", "2026-11-21T03:00", "2026-11-23T04:00"),
        ("weekly sat 02:00", "2026-11-21T03:00", "2026-11-28T02:00"),
        ("Weekly  SAT 4:00", "2026-11-21T03:00", "2026-11-21T04:00"),
        ("daily 01:00", "2026-12-31T01:00", "2027-01-01T01:00"),
        ("hourly 15", "2026-11-21T03:15", "2026-11-21T04:15"),
        ("hourly 0", "2026-11-21T23:59", "2026-11-22T00:00"),
        ("daily 01:00 UTC", "2026-12-31T01:00", "2027-01-01T01:00"),
        ("daily 02:30 Europe/Tallinn", "2026-11-26T00:29", "2026-11-26T00:30"),
        ("Weekly Mon 00:30 europe/tallinn", "2026-07-05T12:00", "2026-07-05T21:30"),
        ("monthly 31 00:00 America/New_York", "2027-02-28T04:59", "2027-02-28T05:00"),
        // 2027-03-28 has no 03:30 in Tallinn: the clock goes from 03:00 to 04:00 at 01:00 UTC.
        ("daily 03:30 Europe/Tallinn", "2027-03-27T02:00", "2027-03-28T01:30"),
        ("daily 03:30 Europe/Tallinn", "2027-03-28T01:10", "2027-03-28T01:30"),
        ("daily 03:30 Europe/Tallinn", "2027-03-28T01:30", "2027-03-29T00:30"),
        // 2026-10-25 has 03:30 twice there: at 00:30 and at 01:30 UTC.
        ("daily 03:30 Europe/Tallinn", "2026-10-24T12:00", "2026-10-25T00:30"),
        ("daily 03:30 Europe/Tallinn", "2026-10-25T00:30", "2026-10-26T01:30"),
        ("hourly 30 Europe/Tallinn", "2026-10-25T00:30", "2026-10-25T01:30"),
        ("hourly 15 Asia/Kolkata", "2026-11-26T00:00", "2026-11-26T00:45"),
        // Half an hour is left out on Lord Howe Island, 2026-10-03 at 15:30 UTC: from 02:00 to 02:30.
        ("hourly 15 Australia/Lord_Howe", "2026-10-03T14:45", "2026-10-03T16:15"),
        // Samoa had no 2011-12-30.
        ("daily 01:00 Pacific/Apia", "2011-12-29T12:00", "2011-12-30T11:00"),
        ("daily 01:00 Pacific/Apia", "2011-12-30T11:00", "2011-12-31T11:00"),
    ])
    func rulesFireWhenTheySay(_ rule: String, _ now: String, _ next: String) throws {
        #expect(try CalendarRule(rule).next(after: try wall(now)) == wall(next))
    }

    @Test(arguments: [
        "", "monthly", "monthly 0 02:30", "monthly 32 02:30", "monthly 3", "monthly 3 24:00", "weekly 3 02:30",
        "daily 2", "daily 02:3", "hourly 60", "hourly -1", "yearly 1 1", "daily 02:30:00", "monthly ٣ 02:30",
        "daily 01:00 jitter", "daily 01:00 jitter 0m", "daily 01:00 jitter 25h", "jitter 5m daily 01:00",
        "daily 01:00 jitter 5s",
        "Europe/Tallinn", "daily Europe/Tallinn 01:00",
    ])
    func badRulesAreRefusedWithAnExample(_ text: String) {
        #expect { try CalendarRule(text) } throws: { error in
            (error as? Refusal)?.code == "bad-schedule" && (error as? Refusal)?.hint.contains("monthly 3 02:30") == true
        }
    }

    @Test(arguments: ["Europe/Talinn", "Tallinn", "+02:00", "GMT+2"])
    func aWrongTimeZoneIsNamed(_ name: String) {
        #expect { try CalendarRule("daily 01:00 \(name) jitter 5m") } throws: { error in
            (error as? Refusal)?.text == "'\(name)' is not a time zone."
        }
    }

    @Test(arguments: ["EST", "CET", "Egypt"]) func aTimeZoneMayHaveANameWithoutASlash(_ name: String) throws {
        #expect(try CalendarRule("daily 01:00 \(name)").description.hasPrefix("daily 01:00 "))
    }

    @Test(arguments: [
        ("daily 01:00 jitter 48h", "The jitter '48h' is out of range; expected 1m to 24h."),
        ("daily 01:00 jitter 90s", "The jitter '90s' is not a whole number of minutes or hours."),
        ("hourly 60", "'hourly 60' is not a schedule rule: the minute '60' is not within 0 to 59."),
        ("monthly 32 02:30", "'monthly 32 02:30' is not a schedule rule: the day '32' is not within 1 to 31."),
        (
            "weekly moon 02:30",
            "'weekly moon 02:30' is not a schedule rule: 'moon' is not a weekday (mon, tue, wed, thu, fri, sat, sun)."
        ),
    ])
    func theWrongPartOfARuleIsNamed(_ text: String, _ words: String) {
        #expect { try CalendarRule(text) } throws: { ($0 as? Refusal)?.text == words }
    }

    /// The calendar of Foundation is the oracle: each day fires once, at its time if the clock shows it.
    @Test(arguments: [
        "Europe/Tallinn", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu",
    ])
    func everyDayOfTenYearsFiresOnceInEveryTimeZone(_ name: String) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: name))
        for (hour, minute) in [(0, 0), (1, 30), (2, 10), (3, 30), (23, 59)] {
            let rule = try CalendarRule("daily \(hour):\(minute < 10 ? "0" : "")\(minute) \(name)")
            #expect(try CalendarRule(rule.description) == rule)
            var instant = try wall("2024-01-01T12:00")
            var day = calendar.startOfDay(for: Date(timeIntervalSince1970: Double(rule.next(after: instant)) / 1_000))
            for _ in 0..<3_652 {
                instant = rule.next(after: instant)
                let date = Date(timeIntervalSince1970: Double(instant) / 1_000)
                #expect(calendar.isDate(date, inSameDayAs: day), "\(rule): \(date)")
                let shown = calendar.dateComponents([.hour, .minute], from: date)
                if shown.hour != hour || shown.minute != minute {
                    // No minute of that day shows it.
                    let found = (0..<1_560).map { day.addingTimeInterval(Double($0) * 60) }.contains {
                        let parts = calendar.dateComponents([.hour, .minute], from: $0)
                        return parts.hour == hour && parts.minute == minute && calendar.isDate($0, inSameDayAs: day)
                    }
                    #expect(!found, "\(rule): \(date)")
                }
                day = try #require(calendar.date(byAdding: .day, value: 1, to: day))
            }
        }
    }

    @Test func jitterIsConstantForAScheduleAndWithinItsBounds() throws {
        let rule = try CalendarRule("daily 23:45 Europe/Tallinn jitter 2h")
        #expect(rule.description == "daily 23:45 Europe/Tallinn jitter 120m")
        let start = try wall("2026-11-26T12:00")
        var delays: Set<Int64> = []
        for number in 0..<200 {
            let first = rule.next(after: start, for: "region-\(number)")
            let delay = first - (try wall("2026-11-26T21:45"))
            #expect((0...120 * 60_000).contains(delay) && delay % 60_000 == 0)
            #expect(rule.next(after: first, for: "region-\(number)") == first + 86_400_000)
            #expect(rule.next(after: first - 1, for: "region-\(number)") == first)
            delays.insert(delay)
        }
        #expect(delays.count > 60, "they are spread: \(delays.count)")
    }

    @Test func everyDayOfFourCenturiesHasTheCalendarsDate() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        let rule = try CalendarRule("daily 00:00")
        for day in stride(from: Int64(-135_140), to: 300_000, by: 97) {
            let next = rule.next(after: day * 86_400_000)
            #expect(next == (day + 1) * 86_400_000)
            let month = try CalendarRule("monthly 1 00:00").next(after: day * 86_400_000)
            let parts = calendar.dateComponents(
                [.day, .hour], from: Date(timeIntervalSince1970: Double(month) / 1_000))
            #expect(parts.day == 1 && parts.hour == 0)
            #expect(month > day * 86_400_000 && month <= (day + 31) * 86_400_000)
        }
    }

    @Test(arguments: [
        ("daily 03:30 Europe/Riga jitter 30m", "daily 04:00", "", "", "daily 04:00 Europe/Riga jitter 30m"),
        ("daily 03:30 Europe/Riga jitter 30m", "hourly 5 UTC jitter 2h", "", "", "hourly 5 jitter 120m"),
        ("daily 03:30 Europe/Riga", "", "Europe/Tallinn", "", "daily 03:30 Europe/Tallinn"),
        ("daily 03:30 Europe/Riga jitter 30m", "", "UTC", "none", "daily 03:30"),
        ("daily 03:30", "", "", "1h", "daily 03:30 jitter 60m"),
        ("weekly mon 04:00", "weekly tue 04:00 Europe/Riga", "UTC", "", "weekly tue 04:00"),
    ])
    func partsOfARuleAreChanged(rule: String, times: String, zone: String, jitter: String, result: String) throws {
        let changed = try CalendarRule(rule).changed(times: times, zone: zone, jitter: jitter)
        #expect(changed.description == result)
    }

    private func bench(_ rule: String = "daily 01:00", now: String = "2026-11-21T00:00") throws -> Bench {
        var bench = Bench()
        let schedule = Schedule(id: "nightly", rule: try CalendarRule(rule), label: "EE", wall: try wall(now))
        bench.on(.putSchedule(schedule, payload: [1]))
        return bench
    }

    private func carryOut(_ bench: inout Bench, wall: Int64, identity: Digest? = nil) {
        for fire in bench.fires {
            let firing = Firing(schedule: fire.id, due: fire.due, wall: wall)
            bench.on(
                .submit(
                    Bench.job(
                        1, request: Firing.requestID(of: fire.id, due: fire.due), identity: identity, firing: firing)))
        }
        bench.fires = []
    }

    @Test func itFiresOnceAtItsTimeAndThenOnTheNextDay() throws {
        var bench = try bench()
        bench.on(.wall(try wall("2026-11-21T00:59")))
        #expect(bench.fires.isEmpty)
        let now = try wall("2026-11-21T01:00")
        bench.on(.wall(now))
        bench.on(.wall(now + 1))
        #expect(bench.fires.map(\.due) == [now])
        carryOut(&bench, wall: now + 5)
        let row = try #require(bench.store.schedules["nightly"])
        #expect(row.lastJob == 1)
        #expect(row.fired == 1)
        #expect(row.next == (try wall("2026-11-22T01:00")))
    }

    @Test func firingsMissedWhileNobodyWasThereCountAsOne() throws {
        var bench = try bench()
        bench.restart()
        let late = try wall("2026-11-25T12:00")
        bench.on(.wall(late))
        #expect(bench.fires.count == 1)
        carryOut(&bench, wall: late)
        #expect(bench.scheduler.nextFiring == (try wall("2026-11-26T01:00")))
        bench.on(.wall(late + 1_000))
        #expect(bench.fires.isEmpty)
    }

    @Test func aCrashBeforeTheJobIsDurableFiresAgainUnderTheSameName() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        bench.on(.wall(now))
        let before = bench.fires.map(\.due)
        bench.fires = []
        bench.restart()
        bench.on(.wall(now + 60_000))
        #expect(bench.fires.map(\.due) == before)
        carryOut(&bench, wall: now + 60_000)
        carryOut(&bench, wall: now + 60_000)
        #expect(bench.scheduler.jobIDs == [1])
    }

    @Test func overlapIsSkippedAndCounted() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        bench.on(.wall(now))
        carryOut(&bench, wall: now)
        bench.on(.wall(try wall("2026-11-22T01:00")))
        #expect(bench.fires.isEmpty)
        #expect(bench.scheduler.schedule("nightly")?.skipped == 1)
        bench.on(.cancel(1))
        bench.on(.wall(try wall("2026-11-23T01:00")))
        #expect(bench.fires.count == 1)
    }

    @Test func aRefusedFiringIsTriedAgainOrSkipped() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        let trouble = Trouble(cause: "bad-request", detail: "x")
        bench.on(.wall(now))
        bench.on(.fireFailed(schedule: "nightly", wall: now, trouble, retriable: true))
        bench.on(.wall(now + 1_000))
        #expect(bench.fires.count == 2)
        bench.on(.fireFailed(schedule: "nightly", wall: now, trouble, retriable: false))
        #expect(bench.scheduler.schedule("nightly")?.skipped == 1)
        #expect(bench.scheduler.nextFiring == (try wall("2026-11-22T01:00")))
    }

    @Test func aFiringWithoutANewBuildMakesNoJob() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        bench.on(.wall(now))
        bench.on(.fireUnchanged(schedule: "nightly", wall: now + 5))
        bench.fires = []
        bench.restart()
        let row = try #require(bench.scheduler.schedule("nightly"))
        #expect(row.unchanged == 1 && row.unchangedAt == now + 5 && row.fired == 0 && row.skipped == 0)
        let next = try wall("2026-11-22T01:00")
        #expect(bench.scheduler.jobIDs.isEmpty && bench.scheduler.nextFiring == next)
        // Nothing is due: an answer that comes late changes nothing.
        bench.on(.fireUnchanged(schedule: "nightly", wall: now + 6))
        #expect(bench.scheduler.schedule("nightly")?.unchanged == 1)
        bench.on(.wall(next))
        carryOut(&bench, wall: next)
        #expect(bench.scheduler.schedule("nightly")?.unchangedAt == 0)
        #expect(bench.scheduler.schedule("nightly")?.unchanged == 1)
    }

    /// The clock was 400 days ahead once, and the next firing was computed from there.
    @Test func aClockThatWasAheadDoesNotHoldAScheduleBack() throws {
        var bench = try bench()
        let ahead = try wall("2027-12-26T12:00")
        bench.on(.wall(ahead))
        carryOut(&bench, wall: ahead)
        #expect(bench.scheduler.nextFiring == (try wall("2027-12-27T01:00")))
        bench.on(.cancel(1))
        let now = try wall("2026-11-21T12:00")
        #expect(bench.scheduler.isAhead(of: now))
        bench.on(.wall(now))
        #expect(bench.fires.isEmpty)
        #expect(bench.store.schedules["nightly"]?.next == (try wall("2026-11-22T01:00")))
        #expect(!bench.scheduler.isAhead(of: now))
        let due = try wall("2026-11-22T01:00")
        bench.on(.wall(due))
        #expect(bench.fires.map(\.due) == [due])
    }

    /// A clock set back by a moment comes past the same instant again.
    @Test func theSameInstantMakesNoSecondJobWhenTheClockIsSetBack() throws {
        var bench = try bench()
        let due = try wall("2026-11-21T01:00")
        bench.on(.wall(due))
        carryOut(&bench, wall: due)
        bench.on(.cancel(1))
        bench.on(.wall(due - 500))
        bench.on(.wall(due + 1))
        carryOut(&bench, wall: due + 1)
        #expect(bench.scheduler.jobIDs == [1])
        #expect(bench.scheduler.nextFiring == (try wall("2026-11-22T01:00")))
    }

    @Test func whyTheLastFiringMadeNoJobIsKeptUntilOneDoes() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        let trouble = Trouble(cause: "bad-request", detail: "x")
        bench.on(.wall(now))
        bench.on(.fireFailed(schedule: "nightly", wall: now, trouble, retriable: false))
        bench.restart()
        #expect(bench.scheduler.schedule("nightly")?.trouble == trouble)
        let next = try wall("2026-11-22T01:00")
        bench.fires = []
        bench.on(.wall(next))
        carryOut(&bench, wall: next)
        #expect(bench.scheduler.schedule("nightly")?.trouble == nil)
    }

    @Test func aFiringByHandLeavesTheCalendarAlone() throws {
        var bench = try bench()
        bench.on(
            .submit(Bench.job(1, firing: Firing(schedule: "nightly", due: nil, wall: try wall("2026-11-21T00:30")))))
        #expect(bench.scheduler.schedule("nightly")?.lastJob == 1)
        #expect(bench.scheduler.nextFiring == (try wall("2026-11-21T01:00")))
        bench.on(.dropSchedule("nightly"))
        #expect(bench.scheduler.nextFiring == nil)
        #expect(bench.store.schedules.isEmpty)
    }

    @Test func aPausedScheduleDoesNotFireAndLeavesOutWhatWasDue() throws {
        var bench = try bench()
        bench.on(.pauseSchedule("nightly", true, wall: try wall("2026-11-21T00:30")))
        #expect(bench.scheduler.nextFiring == nil)
        bench.restart()
        #expect(bench.scheduler.schedule("nightly")?.isPaused == true)
        for time in ["2026-11-21T01:00", "2026-11-22T01:00"] { bench.on(.wall(try wall(time))) }
        #expect(bench.fires.isEmpty)
        bench.on(.pauseSchedule("nightly", false, wall: try wall("2026-11-22T12:00")))
        #expect(bench.scheduler.nextFiring == (try wall("2026-11-23T01:00")))
        bench.on(.wall(try wall("2026-11-22T12:01")))
        #expect(bench.fires.isEmpty)
        let due = try wall("2026-11-23T01:00")
        bench.on(.wall(due))
        carryOut(&bench, wall: due)
        #expect(bench.scheduler.schedule("nightly")?.fired == 1 && bench.scheduler.schedule("nightly")?.skipped == 0)
    }

    @Test func aReplacedScheduleKeepsItsHistory() throws {
        var bench = try bench()
        let now = try wall("2026-11-21T01:00")
        bench.on(.wall(now))
        carryOut(&bench, wall: now)
        bench.on(
            .putSchedule(
                Schedule(id: "nightly", rule: try CalendarRule("hourly 5"), label: "DE", wall: now), payload: [2]))
        let row = try #require(bench.scheduler.schedule("nightly"))
        #expect(row.fired == 1)
        #expect(row.label == "DE")
        #expect(row.next == now + 300_000)
    }
}
