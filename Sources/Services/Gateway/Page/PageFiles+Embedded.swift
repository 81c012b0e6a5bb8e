internal import CWebPage
package import Foundation

extension PageFiles {
    /// The files of the page that this program contains.
    private static let embedded: [String: ServedDocument] = {
        var documents: [String: ServedDocument] = [:]
        let start = ph_page_files_start()
        for index in 0..<ph_page_file_count {
            guard let row = start?[index], let path = row.path, let type = row.media_type else { continue }
            let bytes = Array(UnsafeBufferPointer(start: row.bytes, count: row.size))
            documents[String(cString: path)] = ServedDocument(bytes, mediaType: String(cString: type))
        }
        return documents
    }()

    /// The two files of the map library that the page asks for; it compares their SHA-256 itself.
    private static let libraryFiles = [
        "maplibre-gl.js": "text/javascript; charset=utf-8", "maplibre-gl.css": "text/css; charset=utf-8",
    ]

    /// The page, and the map library below `/ui/lib/` where a folder has it.
    ///
    /// - Parameter library: The folder with `maplibre-gl.js` and `maplibre-gl.css`, which are read at this call; `nil` or
    ///   a folder without them means that the page draws its maps itself.
    package static func embedded(library: URL? = nil) -> PageFiles {
        var found: [String: ServedDocument] = [:]
        for (name, type) in libraryFiles {
            // A library that is not there or cannot be read is not served; the page says so under its maps.
            guard let library, let data = try? Data(contentsOf: library.appending(path: name)) else { continue }
            found["lib/\(name)"] = ServedDocument([UInt8](data), mediaType: type)
        }
        // The page asks this first: a request for a missing script would be an error in the browser's console.
        let isThere = found.count == libraryFiles.count
        found["lib/files.json"] = ServedDocument(Array("{\"library\":\(isThere)}".utf8), mediaType: "application/json")
        return PageFiles(documents: embedded.merging(found) { $1 })
    }
}
