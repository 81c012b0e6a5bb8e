/// The installed files by name, and the versions of each key.
struct InstalledFileTable: Sendable, ExpressibleByDictionaryLiteral {
    private var records: [FileID: InstalledFile] = [:]
    private var byKey: [InstalledFileKey: [FileID]] = [:]

    init(dictionaryLiteral elements: (FileID, InstalledFile)...) { for (id, file) in elements { self[id] = file } }

    var values: Dictionary<FileID, InstalledFile>.Values { records.values }
    var keys: Dictionary<FileID, InstalledFile>.Keys { records.keys }
    var count: Int { records.count }
    var isEmpty: Bool { records.isEmpty }

    subscript(file: FileID) -> InstalledFile? {
        get { records[file] }
        set {
            let old = records[file]
            records[file] = newValue
            if old == nil, newValue != nil { byKey[file.key, default: []].append(file) }
            guard old != nil, newValue == nil else { return }
            byKey[file.key]?.removeAll { $0 == file }
            if byKey[file.key]?.isEmpty ?? false { byKey[file.key] = nil }
        }
    }

    /// All versions of a key, the latest installed first.
    func versions(of key: InstalledFileKey) -> [InstalledFile] {
        (byKey[key] ?? []).compactMap { records[$0] }.sorted { ($0.order, $0.id) > ($1.order, $1.id) }
    }

    /// The version of a key that readers get.
    func current(_ key: InstalledFileKey) -> InstalledFile? {
        for file in byKey[key] ?? [] { if let record = records[file], record.state == .current { return record } }
        return nil
    }
}

extension InstalledFileTable: Hashable {
    static func == (left: InstalledFileTable, right: InstalledFileTable) -> Bool { left.records == right.records }
    func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
