import Foundation
import Tiles

extension RegionTree {
    /// Adds the files of an import folder to the tree: a known id gets the finer boundary, an unknown id becomes a new
    /// region.
    mutating func overlay(folder: URL) throws(RegionsError) {
        var files: [ImportFile] = []
        for url in try Self.importFiles(in: folder) { files.append(try ImportFile.read(url)) }
        // Countries first, so that they exist before their regions are added.
        for file in files.sorted(by: { ($0.kind, $0.id) < ($1.kind, $1.id) }) { try overlay(file) }
    }

    mutating func overlay(_ file: ImportFile) throws(RegionsError) {
        guard let parent = self[file.parentID], parent.kind < file.kind else {
            throw RegionsError(
                .badImport, "Imported region \(file.id) is in \(file.parentID), which is not in the tree.")
        }
        let known = index(of: file.id)
        let old = known.map { nodes[$0].region }
        let region = Region(
            id: old?.id ?? file.id, kind: old?.kind ?? file.kind, parentID: old?.parentID ?? parent.id,
            bounds: file.bounds,
            isImported: true, named: RegionNames((old?.names ?? [:]).merging(file.names) { _, new in new }))
        if let known {
            nodes[known].region = region
            nodes[known].imported = file.shape
            nodes[known].pieces = []
            nodes[known].boxes = []
            names = NameIndex()
        } else {
            append(Node(region: region, pieces: [], boxes: [], imported: file.shape, alpha3: nil, aliases: []))
        }
    }

    /// The files of an import folder in the order of their names; none when there is no such folder.
    static func importFiles(in folder: URL) throws(RegionsError) -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasSuffix("." + ImportFile.suffix) && !$0.hasPrefix(".") }
                .sorted().map { folder.appendingPathComponent($0) }
        } catch {
            throw RegionsError(.fileFailed, "Cannot list '\(folder.path)': \(error.localizedDescription)", cause: error)
        }
    }
}
