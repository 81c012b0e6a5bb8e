internal import ClusterClient
internal import CommandSupport
internal import Digests
import Files
import Foundation
internal import PackageFiles
internal import Packages
import Tilesets
import Wire

/// The work of one `build`: its jobs, its files, and its identity, which differs from other builds of the same output.
struct BuildPlan: Sendable {
    let drafts: [JobDraft]
    /// One for each draft.
    let requests: [PBSubmit]
    let files: [BuildOutput]
    /// The folder of the unfinished build.
    let state: URL
    let record: BuildFolder.Record
    /// Whether it is built by a cluster with other users.
    let isShared: Bool

    /// - Parameters:
    ///   - coordinator: The cluster that builds it; `nil` = this machine.
    ///   - state: The folder for the unfinished build; `nil` = next to the output.
    /// - Throws: ``CLIError`` 64 when the files do not fit the target, 65 when a job is too large for a message.
    init(
        _ drafts: [JobDraft], for target: BuildTarget, policy: SubmitPolicy, coordinator: String?, state: URL?
    ) throws {
        self.drafts = drafts
        isShared = coordinator != nil
        files = try target.files(drafts)
        self.state = state ?? target.stateFolder(of: files)
        let essence = SubmitPolicy(requestID: "", allowedMissing: policy.allowedMissing)
        var all = Array((files.map(\.url.lastPathComponent) + [coordinator ?? ""]).joined(separator: "\n").utf8)
        for draft in drafts {
            var request = draft.request(essence)
            // The limit decides how the tiles are written, not which: an unfinished build continues with another one.
            request.publish.maxFile = 0
            all += try request.frame
        }
        let work = Digest(of: all).hex
        record = BuildFolder.Record(
            work: work, limit: drafts.first?.publish.maxFile ?? 0, label: Self.label(drafts, files),
            tilesets: drafts.map { String(decoding: $0.tileset.canonicalJSON, as: UTF8.self) },
            versions: drafts.map { $0.sourceVersion ?? "" },
            command: ShellText.thisCommand(without: "--restart"))
        requests = drafts.enumerated().map { index, draft in
            var policy = policy
            // In a cluster an equal job is found by its content. On this machine the request id also finds a job that
            // has ended.
            policy.requestID = coordinator == nil ? "build-\(work.prefix(32))-\(index)" : ""
            // The limit for boxes protects a cluster with other users.
            if coordinator == nil { policy.tileLimit = .max }
            return Self.completed(draft.request(policy), isShared: coordinator != nil)
        }
    }

    /// What the cluster makes: a folder is written from the MBTiles file, because a catalog has files only.
    ///
    /// The catalog of a cluster gets MBTiles too, which its other users may have.
    private static func completed(_ request: PBSubmit, isShared: Bool) -> PBSubmit {
        func files(_ formats: [String]) -> [String] {
            let left = formats.filter { $0 != PackageFormat.folder.rawValue }
            guard isShared || left.count < formats.count, !left.contains(PackageFormat.mbtiles.rawValue) else {
                return left
            }
            // An empty list would stand for the formats of the job.
            return [PackageFormat.mbtiles.rawValue] + left
        }
        var request = request
        request.formats = files(request.formats)
        for index in request.packages.indices where !request.packages[index].formats.isEmpty {
            request.packages[index].formats = files(request.packages[index].formats)
        }
        return request
    }

    private static func label(_ drafts: [JobDraft], _ files: [BuildOutput]) -> String {
        let jobs = drafts.map { "\($0.label), zoom \($0.zooms), of tileset '\($0.tileset.id)'" }
        let formats = Set(files.map(\.format.rawValue)).sorted().joined(separator: ", ")
        return "\(jobs.joined(separator: "; ")), as \(formats)"
    }

    /// Refuses existing files; writes nothing.
    ///
    /// - Parameter isResumed: Whether files that an earlier run of this build wrote may stay.
    /// - Throws: ``CLIError`` 73.
    func checkNames(replacing: Bool, isResumed: Bool = false) throws {
        for file in files where !isResumed || file.finished(by: record.identity) == nil {
            for url in file.names where !isResumed || !(FileMark.read(url)?.hasPrefix(record.work) ?? false) {
                try file.format.checkName(url, replacing: replacing)
            }
        }
    }

    /// Whether an earlier run of this build placed a file under another limit of file sizes.
    func isOfOtherLimit(_ url: URL) -> Bool {
        FileMark.read(url).map { $0.hasPrefix(record.work) && !$0.hasPrefix(record.identity) } ?? false
    }

    /// Refuses outputs that cannot be written.
    ///
    /// - Throws: ``CLIError`` 73, before anything is fetched.
    func check(replacing: Bool) throws {
        try checkNames(replacing: replacing)
        let folders = Set(files.map { $0.url.deletingLastPathComponent().path })
        for folder in folders.sorted() { try OutputLocation.makeFolder(URL(filePath: folder)) }
        for file in files.prefix(1) { try OutputLocation.tryFolder(of: file.url) }
    }

    /// The files, when every one exists, was made by exactly this build, and is undamaged; else `nil`.
    func finished() async throws -> [BuildOutput]? {
        var finished: [BuildOutput] = []
        for file in files {
            guard let outputs = file.finished(by: record.identity) else { return nil }
            finished += outputs
        }
        guard finished.allSatisfy({ $0.format.isFolder || FileKind.isRegular($0.url) }) else { return nil }
        for file in finished {
            let report = try await FileWork.run { try PackageCheck.verify(file.url, mask: file.mask) }
            if !report.isVerified { return nil }
        }
        return finished
    }
}
