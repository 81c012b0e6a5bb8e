/// The inner pages of one tree, growing upwards while its leaves are written.
///
/// Memory: one page a level.
struct SQLiteInnerPages {
    /// A page, and what lies between it and the next one: for tables its highest row number, for indexes a row.
    struct Child {
        let page: UInt32
        let key: [UInt8]
    }

    private struct Level {
        var children: [Child] = []
        var used = 12
    }

    private let kind: SQLitePage.Kind
    private let pages: SQLitePages
    private var levels: [Level] = []

    init(_ kind: SQLitePage.Kind, _ pages: SQLitePages) {
        self.kind = kind
        self.pages = pages
    }

    /// Adds a page that another one will follow, so that no page is left with one child and no cell.
    mutating func add(_ child: Child) throws { try add(child, level: 0) }

    private mutating func add(_ child: Child, level: Int) throws {
        if level == levels.count { levels.append(Level()) }
        let cost = 4 + child.key.count + 2
        if levels[level].used + cost > pages.size, let between = levels[level].children.last?.key {
            let page = try write(levels[level].children)
            levels[level] = Level()
            try add(Child(page: page, key: between), level: level + 1)
        }
        levels[level].children.append(child)
        levels[level].used += cost
    }

    /// Adds the last page and returns the root.
    mutating func finish(last page: UInt32) throws -> UInt32 {
        var last = page
        for level in levels { last = try write(level.children + [Child(page: last, key: [])]) }
        return last
    }

    /// Writes a page; the last child's key is not in it.
    private func write(_ children: [Child]) throws -> UInt32 {
        let cells = children.dropLast().map { child in
            var cell: [UInt8] = []
            cell.append(big: child.page)
            return cell + child.key
        }
        let page = SQLitePage.encode(kind, cells, size: pages.size, right: children.last?.page)
        return UInt32(try pages.append(page))
    }
}
