/// Which backups stay: those of the last hour, then the last of each hour for a day, then the last of each day for a month.
enum BackupThinning {
    private static let hour: Int64 = 3_600
    private static let day: Int64 = 86_400
    private static let month: Int64 = 31 * day

    /// The backups to remove.
    ///
    /// The newest by epoch and number always stays, also when the clock is wrong. Hours and days are those of UTC, so that what stays today also stays
    /// tomorrow.
    ///
    /// - Parameter now: Seconds since 1970.
    static func surplus(_ names: [BackupName], now: Int64) -> [BackupName] {
        guard let newest = names.max() else { return [] }
        var last: [Int64: BackupName] = [:]
        for name in names {
            guard let slot = slot(age: now - name.seconds, name.seconds) else { continue }
            last[slot] = max(last[slot] ?? name, name)
        }
        let kept = Set(last.values)
        return names.filter { name in
            name != newest && now - name.seconds > hour && !kept.contains(name)
        }.sorted()
    }

    /// Backups of one slot are thinned to the last one; `nil` = too old.
    ///
    /// Slots of hours are odd, those of days even.
    private static func slot(age: Int64, _ seconds: Int64) -> Int64? {
        if age <= day { return seconds / hour * 2 + 1 }
        return age <= month ? seconds / day * 2 : nil
    }
}
