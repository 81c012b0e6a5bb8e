public import CatalogFormat
public import Errors
internal import Foundation

/// `mirrors.json`: the publisher's list of mirrors.
struct CatalogMirrorList: Codable, Equatable {
    var mirrors: [String] = []
}

extension Catalog {
    private static let mirrorListName = "mirrors.json"

    /// Base addresses of other servers that have the same files, in the order in which clients ask them.
    ///
    /// - Throws: `catalog-corrupt` for bytes that are no list of mirrors, or that name more than ``CatalogMirror/limit`` or an invalid
    ///   address; `io`.
    public func mirrors() throws(CatalogError) -> [String] {
        let url = place(Self.mirrorListName, .main)
        guard let bytes = try Self.bytes(url) else { return [] }
        let mirrors: [String]
        do { mirrors = try JSONDecoder().decode(CatalogMirrorList.self, from: Data(bytes)).mirrors } catch {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' is not a list of mirrors; it was not changed. Restore it from a backup, or remove it.",
                cause: error)
        }
        guard mirrors.count <= CatalogMirror.limit, Set(mirrors).count == mirrors.count,
            mirrors.allSatisfy(CatalogMirror.isValid)
        else {
            throw CatalogError(
                .corrupt,
                "'\(url.path)' lists more than \(CatalogMirror.limit) mirrors, one twice, or an invalid address. Restore it from a backup, or remove it."
            )
        }
        return mirrors
    }

    /// Names a server that has the same files; clients ask it after those that are listed already.
    ///
    /// `catalog.json` is signed again; its sequence stays. Naming a mirror again changes nothing.
    ///
    /// - Parameter address: Of the folder with `catalog.json`: absolute, http or https, with a host and without user, query
    ///   and fragment.
    /// - Returns: All mirrors, and whether this one was new.
    /// - Throws: `bad-request` for an address that clients would refuse, and beyond ``CatalogMirror/limit``; `signing-key`,
    ///   `catalog-corrupt`, `disk-full`, `io`.
    @discardableResult
    public func add(mirror address: String) throws(CatalogError) -> (mirrors: [String], isNew: Bool) {
        let address = try Self.checked(mirror: address)
        return try change { (mirrors) throws(CatalogError) in
            guard !mirrors.contains(address) else { return false }
            guard mirrors.count < CatalogMirror.limit else {
                throw CatalogError(
                    .badRequest,
                    "The catalog has \(mirrors.count) mirrors, and more are refused by clients. Remove one first: packhorse catalog mirrors remove."
                )
            }
            mirrors.append(address)
            return true
        }
    }

    /// Names a server no longer.
    ///
    /// - Returns: The mirrors that are left.
    /// - Throws: `bad-request` when it is not listed; `signing-key`, `catalog-corrupt`, `disk-full`, `io`.
    @discardableResult
    public func remove(mirror address: String) throws(CatalogError) -> [String] {
        let wanted = address.hasSuffix("/") ? address : address + "/"
        return try change { (mirrors) throws(CatalogError) in
            guard mirrors.contains(wanted) else {
                let known = mirrors.isEmpty ? "it has none" : "it has " + mirrors.joined(separator: ", ")
                throw CatalogError(.badRequest, "'\(wanted.prefix(200))' is no mirror of the catalog: \(known).")
            }
            mirrors.removeAll { $0 == wanted }
            return true
        }.mirrors
    }

    private func change(
        _ edit: (inout [String]) throws(CatalogError) -> Bool
    ) throws(CatalogError) -> (mirrors: [String], isNew: Bool) {
        try checkMaySign()
        return try locked { () throws(CatalogError) in
            var list = CatalogMirrorList(mirrors: try mirrors())
            let isNew = try edit(&list.mirrors)
            if isNew { try write(list, to: place(Self.mirrorListName, .main)) }
            // A command before this one may have ended between both files.
            try refreshIndex()
            return (list.mirrors, isNew)
        }
    }

    private static func checked(mirror text: String) throws(CatalogError) -> String {
        var address = text
        if address.hasSuffix("/" + CatalogIndex.fileName) { address.removeLast(CatalogIndex.fileName.count) }
        if !address.hasSuffix("/") { address += "/" }
        guard CatalogMirror.isValid(address) else {
            throw CatalogError(
                .badRequest,
                "'\(text.prefix(200))' cannot be a mirror. Give the address of a folder, such as https://mirror.example.org/offline/: http or https, without user, query and fragment, at most \(CatalogMirror.longestAddress) bytes."
            )
        }
        return address
    }
}
