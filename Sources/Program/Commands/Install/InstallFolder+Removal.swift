internal import CommandSupport
import Errors
import Files
import Foundation

extension InstallFolder {
    /// The installed objects with these names.
    ///
    /// - Parameters:
    ///   - ids: Packages, whole or as tile packs.
    ///   - groups: The groups to search; empty = the base map and all groups.
    ///   - styles: Style packs.
    /// - Throws: ``CLIError`` 66 for a name without installed files, with the existing names.
    func holdings(_ ids: [String], groups: [String], styles: [String]) throws -> Record {
        let all = try record()
        func isMeant(_ id: String, _ group: String?) -> Bool {
            ids.contains(id) && (groups.isEmpty || group.map(groups.contains) ?? false)
        }
        var found = Record()
        found.packages = all.packages.filter { isMeant($0.id, $0.group) }
        found.regions = all.regions?.filter { isMeant($0.id, $0.group) }
        found.styles = all.styles?.filter { styles.contains($0.id) }
        let there = Set(found.packages.map(\.id) + (found.regions ?? []).map(\.id))
        if let id = ids.first(where: { !there.contains($0) }) {
            let known = Set(all.packages.map(\.id) + (all.regions ?? []).map(\.id)).sorted()
            throw absent("package '\(id)'" + (groups.isEmpty ? "" : " of \(groups.joined(separator: ", "))"), known)
        }
        if let id = styles.first(where: { id in !(found.styles ?? []).contains { $0.id == id } }) {
            throw absent("style '\(id)'", (all.styles ?? []).map(\.id))
        }
        return found
    }

    private func absent(_ what: String, _ known: [String]) -> CLIError {
        let list = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? " and \(known.count - 20) more" : "")
        return CLIError(
            .noInput, "\(what) is not installed in '\(folder.path)'",
            hint: known.isEmpty ? "nothing of this kind is installed" : "installed: \(list)")
    }

    /// The files to remove, by path inside the folder, ascending.
    ///
    /// Packs of other regions stay.
    func files(of gone: Record) throws -> [String] {
        let lists = Set((gone.regions ?? []).map(\.list))
        let staying = try regions().filter { !lists.contains($0.list) }
        return
            (gone.packages.map(\.file) + lists + Self.packs(of: gone.regions ?? [], notIn: staying)
            + (gone.styles ?? []).map(\.file)).sorted()
    }

    /// Removes files and updates the record.
    ///
    /// The record is written last: after an interrupted removal the files are still in it, and can be removed again.
    func remove(_ gone: Record) throws {
        let files = try files(of: gone).map { folder.appending(path: $0) }
        for file in files {
            try Task.checkCancellation()
            try Durable.remove(file)
        }
        try change { record in
            record.packages.removeAll(where: gone.packages.contains)
            record.regions?.removeAll(where: (gone.regions ?? []).contains)
            record.styles?.removeAll(where: (gone.styles ?? []).contains)
        }
        Durable.removeEmptyFolders(of: files, upTo: folder)
    }

    /// Size of a file inside the folder in bytes; 0 when it does not exist.
    func size(_ path: String) -> UInt64 {
        var status = stat()
        return stat(folder.appending(path: path).path, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
    }
}
