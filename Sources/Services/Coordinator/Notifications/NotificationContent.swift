import Digests
import Files
import Foundation
import Notifications
import Packages
import Scheduling
import Wire

/// Makes a notification from a line of the event log.
enum NotificationContent {
    /// - Parameters:
    ///   - bytes: The change, as stored.
    ///   - catalogs: The catalogs of jobs.
    /// - Throws: ``CoordinatorError`` `damaged-state`, ``WireError``.
    static func make(
        _ kind: NotificationKind, seq: UInt64, wall: Int64, job: JobID, _ bytes: Data, catalogs: CatalogPlaces
    ) throws -> EventNotification {
        let change = try PBLoggedChange(decoding: Array(bytes))
        var content = EventNotification(
            id: id(seq: seq, wall: wall, job: job, bytes), seq: seq, kind: kind, wall: wall, state: "",
            text: try EventText.line(change, job: job))
        if job != 0 {
            content.job = job.rawValue
            content.catalog = catalogs.name(of: job)
        }
        let line = { "a line of the event log for job \(job)" }
        switch change.change {
        case .job(let row):
            let summary = try JobRecord.summary(job, try JobRecord.table.reader(row, line))
            content.state = summary.state.rawValue
            content.reason = summary.reason.isEmpty ? nil : EventNotification.shortened(summary.reason)
        case .package(let body):
            let files = WireConversions.files(body.files) ?? []
            let package = try PackageRecord.package(try PackageRecord.table.reader(body.row, line), files)
            content.state = "\(package.state)"
            content.package = self.package(package, url: catalogs.place(of: job)?.url)
        case .originBlock(let body):
            let block = WireConversions.block(body)
            content.state = block.isDown ? "broken" : "blocked"
            content.origin = EventNotification.Origin(
                name: block.origin, reason: block.reason, seconds: UInt64(clamping: (block.wait + 999) / 1_000))
        case .step(let row):
            let step = try StepRecord.step(job, try StepRecord.table.reader(row, line))
            content.state = step.state.rawValue
            content.reason = EventNotification.shortened("\(step.text): \(step.cause): \(step.detail)")
        case .schedule(let row):
            let schedule = try ScheduleRecord.schedule(try ScheduleRecord.table.reader(row, line))
            content.state = "failed"
            content.schedule = schedule.id
            content.reason = EventNotification.shortened(schedule.attempts.alert)
            if schedule.attempts.failedJob != 0 { content.job = schedule.attempts.failedJob.rawValue }
        default: break
        }
        return content
    }

    /// Equal whenever the line is read, and different for the line that gets its number after a backup was restored.
    private static func id(seq: UInt64, wall: Int64, job: JobID, _ bytes: Data) -> String {
        let identity = Data("\(seq) \(wall) \(job) ".utf8) + bytes
        return String(Digest(of: identity).hex.prefix(32))
    }

    /// - Parameter url: The public address of the catalog with a slash at its end; `nil` = none.
    private static func package(_ package: Package, url: String?) -> EventNotification.Package {
        EventNotification.Package(
            id: package.id, version: package.version, size: package.merged?.size ?? 0,
            tiles: package.merged?.tiles ?? package.tiles, sha256: package.merged?.digest.hex ?? "",
            path: package.path, url: url.map { $0 + package.path },
            files: (package.merged?.files ?? []).map { file in
                EventNotification.File(
                    format: file.format, size: file.size, sha256: file.digest.hex,
                    path: PackageFormat(rawValue: file.format)?.path(
                        ofPackage: package.path, part: file.part?.number ?? 0))
            })
    }
}

extension PackageFormat {
    /// The path of a package in this format, from the path of its main file; `nil` when that has another name.
    ///
    /// - Parameter part: The number of the part whose file it is; then the path is that of the first part.
    func path(ofPackage path: String, part: UInt32 = 0) -> String? {
        let ends = [PackageFormat.mbtiles, .pmtiles].map { (part > 0 ? "-1" : "") + $0.fileExtension }
        guard let end = ends.first(where: path.hasSuffix) else { return nil }
        return String(path.dropLast(end.count)) + (part > 0 ? "-\(part)" : "") + fileExtension
    }
}
