import ArgumentParser
internal import CommandSupport
import Errors
import Files
import Foundation
import Logging
import OfflineMaps
import Synchronization
internal import TextFormats
internal import WebServer

/// `packhorse device share`.
struct DeviceShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Give installed maps to other devices, in a folder or as a web server.",
        discussion: """
            The share is the publisher's signed catalog with the files that are installed here: packages, files that belong to them, and styles. Another
            device installs from it with the same public key and without the internet, and later updates come from the publisher, with patches.
            Every file is read and compared with the catalog first. What is not installed here is answered with 404, and the device says what the
            share has. With --port it listens on 127.0.0.1, or on --host, until Ctrl-C; then it also does the tasks of the queue, as serve does, and
            updates become visible at once.
            Examples:
              packhorse device share /media/usb/maps --store ./maps
              packhorse device share --port 8090 --host 0.0.0.0 --store ./maps
              packhorse device install EE --catalog /media/usb/maps --public-key catalog.pub --store ./other
            """)

    @Argument(help: "The folder of the share: a new one, or an earlier share to bring up to date.") var folder: String?
    @Option(help: "Serve on this port instead; 0 takes a free port.") var port: Int?
    @Option(help: "The address to listen on; 0.0.0.0 lets other machines ask.") var host = "127.0.0.1"
    @Flag(help: "Copy files into the folder, also where they could be hard links.") var copy = false
    @Flag(help: "Print what the folder has as JSON.") var json = false
    @OptionGroup var store: StoreArguments
    @OptionGroup var log: LogOptions

    func validate() throws {
        guard (folder == nil) != (port == nil) else {
            throw ValidationError("Give either a folder, or --port to serve.")
        }
        guard (0...65535).contains(port ?? 0) else { throw ValidationError("--port must be between 0 and 65535.") }
        guard folder != nil || !copy && !json else {
            throw ValidationError("--copy and --json are for a share in a folder.")
        }
        guard folder == nil || host == "127.0.0.1" else { throw ValidationError("--host needs --port.") }
    }

    func run() async throws {
        do {
            if let folder {
                let command = self
                try await Interruptible.run { try await command.write(folder) }
            } else if let port {
                try await serve(port)
            }
        } catch let error as StoreError { throw CLIError(error) }
    }

    // MARK: - Folder

    private func write(_ named: String) async throws {
        let target = ShareFolder(folder: URL(filePath: named, directoryHint: .isDirectory), copies: copy)
        try target.check()
        let opened = try await DeviceStore.openExisting(store)
        let shared = SharedFiles(opened)
        let (share, whole) = try await Self.wholeFiles(of: shared)
        guard !whole.isEmpty else {
            throw CLIError(
                .noInput, "nothing that the catalog names is installed",
                hint: "install something first: packhorse device install ID")
        }
        let report: ShareFolder.Report
        do throws(StorageError) { try target.make() } catch {
            throw CLIError(.cannotCreate, error.message, hint: error.hint)
        }
        do {
            report = try await FileWork.run { try target.write(share, whole) }
        } catch let error as StorageError {
            throw CLIError(error.code == .diskFull ? .cannotCreate : .inputOutput, error.message, hint: error.hint)
        }
        if json { return Console.result(try JSONText.pretty(report)) }
        report.entries.map(\.words).forEach(Console.result)
        Console.note(
            "\(Units.count(report.added.count, of: "file")) added, \(report.kept) kept, \(report.removed.count) removed, "
                + "\(Units.bytes(report.bytes))")
    }

    /// What can be given away; a warning names what is damaged, and a note what is not the newest.
    private static func wholeFiles(of shared: SharedFiles) async throws -> (MapShare, [MapShare.File]) {
        let share = try await shared.share()
        let whole = try await shared.wholeFiles { damaged in
            Console.warning(
                "\(ShareManifest([damaged.listed]).words) is damaged and not shared: packhorse device repair downloads it again"
            )
        }
        let old = ShareManifest(whole.map(\.listed).filter { !$0.isNewest })
        if !old.entries.isEmpty {
            Console.warning(
                "the catalog has newer versions than this device, so others cannot install these: \(old.words). "
                    + "Update first: packhorse device update")
        }
        // Files of this list only: another process may have read a newer one meanwhile.
        return (share, whole.filter { share.files[$0.listed.path] != nil })
    }

    // MARK: - Server

    private func serve(_ port: Int) async throws {
        let opened = try await DeviceStore.openExisting(store)
        // The process that holds the store does the work that other commands ask for.
        try await opened.start()
        let shared = SharedFiles(opened)
        let entries = ShareManifest(try await Self.wholeFiles(of: shared).1.map(\.listed))
        Console.note("the share has \(entries.words)")
        let logger = log.logger("share")
        let (host, isLocal) = (host, MapResponder.isOwn(host))
        let server = WebServer(
            .host(host, port: port), name: "packhorse-share", rules: ConnectionRules(), logger: logger
        ) { request, connection in
            await ShareResponder(shared: shared, isLocal: isLocal, loop: connection.loop, logger: logger).respond(
                to: request)
        }
        try await ServiceRunner.run(logger) {
            try await server.run { port in Console.result("http://\(host.contains(":") ? "[\(host)]" : host):\(port)/")
            }
        }
        await opened.stop()
    }
}
