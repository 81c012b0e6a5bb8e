/// The installed files by name, and by the unit that they are versions of.
struct UnitTable: Sendable, ExpressibleByDictionaryLiteral {
    private var records: [FileID: InstalledFile] = [:]
    private var byUnit: [UnitKey: [FileID]] = [:]

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
            if old == nil, newValue != nil { byUnit[file.unit, default: []].append(file) }
            guard old != nil, newValue == nil else { return }
            byUnit[file.unit]?.removeAll { $0 == file }
            if byUnit[file.unit]?.isEmpty ?? false { byUnit[file.unit] = nil }
        }
    }

    /// All versions of a unit, the latest installed first.
    func versions(of unit: UnitKey) -> [InstalledFile] {
        (byUnit[unit] ?? []).compactMap { records[$0] }.sorted { ($0.order, $0.id) > ($1.order, $1.id) }
    }

    /// The version of a unit that readers get.
    func current(_ unit: UnitKey) -> InstalledFile? {
        for file in byUnit[unit] ?? [] { if let record = records[file], record.state == .current { return record } }
        return nil
    }
}

extension UnitTable: Hashable {
    static func == (left: UnitTable, right: UnitTable) -> Bool { left.records == right.records }
    func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
