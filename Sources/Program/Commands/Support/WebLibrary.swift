import ArgumentParser
import Foundation

/// The folder with MapLibre GL JS for the maps of the web page, which is not a part of the program.
enum WebLibrary {
    /// The script; its style sheet stands beside it.
    static let script = "maplibre-gl.js"
    /// The variable that names a folder.
    static let variable = "PACKHORSE_WEB_LIB"

    /// Refuses an option that names a folder without the script.
    ///
    /// - Throws: `ValidationError`.
    static func check(_ option: String?) throws {
        guard let option, !FileManager.default.fileExists(atPath: option + "/" + script) else { return }
        throw ValidationError("--web-lib names the folder '\(option)', which has no \(script); ops/web-lib makes one.")
    }

    /// The folder that an option or the variable names, else the first of the usual ones that has the script; `nil` when none has it.
    ///
    /// - Parameter program: The file of the running program.
    static func folder(option: String?, environment: String?, program: URL) -> URL? {
        if let named = option ?? environment { return URL(filePath: named, directoryHint: .isDirectory) }
        return usual(program).first { FileManager.default.fileExists(atPath: $0.appending(path: script).path) }
    }

    /// Beside an installed program, in the folder of the system, and in the folder of a build, where `ops/web-lib` puts it.
    static func usual(_ program: URL) -> [URL] {
        let folder = program.deletingLastPathComponent()
        return [
            folder.appending(path: "../share/packhorse/web-lib"), URL(filePath: "/usr/local/share/packhorse/web-lib"),
            URL(filePath: "/usr/share/packhorse/web-lib"), folder.appending(path: "../web-lib"),
            folder.appending(path: "../../web-lib"),
        ].map(\.standardizedFileURL)
    }
}
