import Errors
import Foundation
import Synchronization

/// Reads formats of GIS programs by `ogr2ogr`, a program of GDAL, when it is installed.
///
/// The program writes a GeoJSON sequence in WGS 84, which is read as it comes. It gets only files whose first bytes are those of the format,
/// and opens them with the driver of that format alone.
enum OGRReader {
    enum Driver: String {
        case shapefile = "ESRI Shapefile"
        case geoPackage = "GPKG"
        case flatGeobuf = "FlatGeobuf"
    }

    /// A run that takes longer is ended.
    private static let secondsLimit = 600

    /// Whether a ZIP archive has a shapefile among the first names.
    static func isZippedShapefile(_ start: AreaStart) -> Bool {
        let text = String(decoding: start.bytes.prefix(1 << 20).lazy.map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self)
        return text.lowercased().contains(".shp") && !text.lowercased().contains(".kml")
    }

    static func read(_ input: AreaInput, by driver: Driver, into sink: inout AreaSink) throws(AreaFileError) {
        guard let file = input.file else {
            throw AreaFileError(
                .badArea, "\(driver.rawValue) cannot be read from standard input", hint: "give the name of a file")
        }
        guard let program = program("ogr2ogr") else {
            throw AreaFileError(
                .needsProgram, "\(driver.rawValue) is read by ogr2ogr, which is not installed",
                hint: "install Debian's package gdal-bin, or convert the file to GeoJSON in WGS 84")
        }
        let isZip = try input.ahead(2).elementsEqual([0x50, 0x4B])
        let source = isZip ? "/vsizip/{\(file.path)}" : file.path
        let layers = driver == .geoPackage ? try layers(of: source, driver) : [nil]
        for layer in layers {
            var arguments = [
                "-f", "GeoJSONSeq", "-if", driver.rawValue, "-t_srs", "EPSG:4326", "-dim", "XY", "/vsistdout/", source,
            ]
            if let layer { arguments.append(layer) }
            try run(program, with: arguments) { (output) throws(AreaFileError) in
                try GeoJSONReader.sequence(output, &sink)
            }
        }
    }

    /// The layers of a file, by `ogrinfo`.
    private static func layers(of source: String, _ driver: Driver) throws(AreaFileError) -> [String?] {
        guard let program = program("ogrinfo") else { return [nil] }
        var names: [String?] = []
        try run(program, with: ["-ro", "-so", "-q", "-if", driver.rawValue, source]) { (output) throws(AreaFileError) in
            while let line = try output.nextLine(limit: 4_096) {
                // "1: name (Multi Polygon)"
                let text = String(decoding: line, as: UTF8.self)
                guard let colon = text.firstIndex(of: ":"), Int(text[..<colon]) != nil else { continue }
                var name = text[text.index(after: colon)...].drop { $0 == " " }
                if name.hasSuffix(")"), let open = name.range(of: " (", options: .backwards) {
                    name = name[..<open.lowerBound]
                }
                names.append(String(name))
            }
        }
        guard !names.isEmpty else { throw AreaFileError(.badArea, "it has no layer with geometries") }
        return names
    }

    private static func program(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first(
            where: FileManager.default.isExecutableFile(atPath:))
    }

    /// Runs a program and reads what it writes.
    ///
    /// - Throws: What it says on standard error: it ends with 0 after some faults too.
    private static func run(
        _ program: String, with arguments: [String], body: (AreaInput) throws(AreaFileError) -> Void
    ) throws(AreaFileError) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        do { try process.run() } catch {
            throw AreaFileError(.unreadable, "'\(program)' does not start: \(error.localizedDescription)", cause: error)
        }
        let said = SaidText()
        let handle = errors.fileHandleForReading
        let reading = Thread { said.read(handle) }
        reading.start()
        let ending = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(secondsLimit), execute: ending)
        var failure: AreaFileError?
        do throws(AreaFileError) {
            try body(AreaInput(output.fileHandleForReading))
        } catch {
            failure = error
            process.terminate()
        }
        process.waitUntilExit()
        ending.cancel()
        let text = said.text
        guard process.terminationStatus == 0, text.isEmpty, failure == nil else {
            let first = text.split(whereSeparator: \.isNewline).first.map(String.init)
            let what = first ?? failure?.message ?? "it ended with \(process.terminationStatus)"
            throw AreaFileError(.badArea, "ogr2ogr: \(what)")
        }
    }
}

/// What a program says on standard error until it closes it: the first 4 KiB.
private final class SaidText: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// Reads to the end; on a thread of its own, so that a full pipe never holds the program up.
    func read(_ handle: FileHandle) {
        // An end for another reason than the program's is an end, too: what was read so far counts.
        while let data = try? handle.read(upToCount: 4_096), !data.isEmpty {
            bytes.withLock { if $0.count < 4_096 { $0 += data } }
        }
        ended.signal()
    }

    /// Waits for the end.
    var text: String {
        ended.wait()
        return bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }
}
