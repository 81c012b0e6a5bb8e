import Errors
import Foundation

/// Reads formats of GIS programs by `ogr2ogr`, a program of GDAL, when it is installed.
///
/// The program writes a GeoJSON sequence in WGS 84, which is read as it comes. It gets only files whose first bytes are those of the format,
/// and drivers that follow addresses or other files are switched off.
enum OGRReader {
    enum Driver: String {
        case shapefile = "ESRI Shapefile"
        case geoPackage = "GPKG"
        case flatGeobuf = "FlatGeobuf"

        /// What the name of a file from standard input ends in.
        var ending: String {
            switch self {
            case .shapefile: "zip"
            case .geoPackage: "gpkg"
            case .flatGeobuf: "fgb"
            }
        }
    }

    /// The most that is read from standard input: 4 GiB.
    private static let spooledLimit = 4 << 30

    /// Variables of the program: drivers that open what a file names are off, and an error after 1,000 warnings is said too.
    private static let settings = [
        "GDAL_SKIP": "HTTP,OGR_VRT,VRT,WFS,OAPIF,OGCAPI,CSW,GMLAS,LIBKML,KML,GPSBabel", "CPL_MAX_ERROR_REPORTS": "0",
    ]
    /// A run that takes longer is ended.
    private static let secondsLimit = 600

    /// Whether a ZIP archive has a shapefile among the first names.
    static func isZippedShapefile(_ start: AreaStart) -> Bool {
        let text = String(decoding: start.bytes.prefix(1 << 20).lazy.map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self)
        return text.lowercased().contains(".shp") && !text.lowercased().contains(".kml")
    }

    static func read(_ input: AreaInput, by driver: Driver, into sink: inout AreaSink) throws(AreaFileError) {
        guard let program = program("ogr2ogr") else {
            throw AreaFileError(
                .needsProgram, "\(driver.rawValue) is read by ogr2ogr, which is not installed",
                hint: "install Debian's package gdal-bin, or convert the file to GeoJSON in WGS 84")
        }
        let isZip = try input.ahead(2).elementsEqual([0x50, 0x4B])
        let file: URL
        if let named = input.file {
            file = named
        } else {
            guard driver != .shapefile || isZip else {
                throw AreaFileError(
                    .badArea, "a shapefile is several files, of which only one comes from standard input",
                    hint: "give the name of the .shp file, or a ZIP archive of all of them")
            }
            file = try spooled(input, as: driver.ending)
        }
        // What could not be removed lies among the temporary files of the system.
        defer { if input.file == nil { try? FileManager.default.removeItem(at: file) } }
        let source = isZip ? "/vsizip/{\(file.path)}" : file.path
        for layer in driver == .geoPackage || isZip ? try layers(of: source) : [nil] {
            var arguments = [
                "-f", "GeoJSONSeq", "-t_srs", "EPSG:4326", "-dim", "XY", "/vsistdout/", source,
            ]
            if let layer { arguments.append(layer) }
            let said = try run(program, with: arguments) { (output) throws(AreaFileError) in
                try GeoJSONReader.sequence(output, &sink)
            }
            if let warning = said.warning {
                let more = said.warningCount - 1
                sink.note("ogr2ogr: \(warning)" + (more > 0 ? " (and \(more) more)" : ""))
            }
        }
    }

    /// Standard input as a file.
    private static func spooled(_ input: AreaInput, as ending: String) throws(AreaFileError) -> URL {
        let file = FileManager.default.temporaryDirectory.appending(path: "packhorse-\(UUID().uuidString).\(ending)")
        do {
            guard
                FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            let handle = try FileHandle(forWritingTo: file)
            var size = 0
            while case let piece = try input.nextPiece(), !piece.isEmpty {
                size += piece.count
                guard size <= spooledLimit else {
                    throw AreaFileError(.tooLarge, "standard input has more than \(spooledLimit >> 30) GiB")
                }
                try handle.write(contentsOf: piece)
            }
            try handle.close()
            return file
        } catch {
            // The first failure is the one to report.
            try? FileManager.default.removeItem(at: file)
            if let error = error as? AreaFileError { throw error }
            throw AreaFileError(
                .unreadable, "it cannot be stored as '\(file.path)': \(error.localizedDescription)", cause: error)
        }
    }

    /// The layers of a file, by `ogrinfo`.
    private static func layers(of source: String) throws(AreaFileError) -> [String?] {
        guard let program = program("ogrinfo") else { return [nil] }
        var names: [String?] = []
        // What it warns of, ogr2ogr says again.
        _ = try run(program, with: ["-ro", "-so", "-q", source]) { (output) throws(AreaFileError) in
            while let line = try output.nextLine(limit: 4_096) {
                // "1: name (Multi Polygon)"
                let text = String(decoding: line, as: UTF8.self)
                guard let colon = text.firstIndex(of: ":"), Int(text[..<colon]) != nil else { continue }
                var name = text[text.index(after: colon)...].drop { $0 == " " }
                if name.hasSuffix(")"), let open = name.range(of: " (", options: .backwards) {
                    name = name[..<open.lowerBound]
                }
                if !text.hasSuffix("(None)") { names.append(String(name)) }
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
    /// - Returns: What it warns of.
    /// - Throws: The error that it says on standard error: it ends with 0 after some faults too.
    private static func run(
        _ program: String, with arguments: [String], body: (AreaInput) throws(AreaFileError) -> Void
    ) throws(AreaFileError) -> OGRMessages {
        let running: RunningProgram
        do throws(RunningProgram.StartFailed) {
            let environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
            running = try RunningProgram(program, arguments: arguments, environment: environment)
        } catch {
            throw AreaFileError(
                .unreadable, "'\(program)' does not start: \(String(cString: strerror(error.number)))", cause: error)
        }
        let reader = OGRMessageReader()
        let reading = Thread { reader.read(running.errors) }
        reading.start()
        let ending = DispatchWorkItem { running.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(secondsLimit), execute: ending)
        var failure: AreaFileError?
        do throws(AreaFileError) {
            try body(AreaInput(running.output))
        } catch {
            failure = error
            running.terminate()
        }
        let end = running.wait()
        ending.cancel()
        let said = reader.all()
        guard end == .code(0), said.fault == nil, failure == nil else {
            guard said.fault?.contains("no coordinate system") != true else {
                throw AreaFileError(
                    .badArea, "its reference system is not known",
                    hint: "a shapefile needs its .prj file; for WGS 84 this adds it: ogr2ogr -a_srs EPSG:4326 OUT IN")
            }
            let what = said.fault ?? failure?.message ?? "it \(end)"
            throw AreaFileError(.badArea, "ogr2ogr: \(what.prefix(400))")
        }
        return said
    }
}
