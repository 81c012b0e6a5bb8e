internal import ClusterClient
internal import CommandSupport
import Errors
import Regions
internal import TextFormats

/// Finds towns that the user names.
enum TownReader {
    /// The most candidates that an error lists.
    private static let listed = 12

    /// The town that a text means; `nil` when it means a region, or nothing.
    ///
    /// A region wins over towns of the same name, and a note names the first of these.
    ///
    /// - Throws: ``CLIError`` 66 with the candidates when several towns have the name.
    static func area(_ text: String, in tree: RegionTree) throws -> Area? {
        let towns = try TownList.embedded()
        let isRegion: Bool
        do throws(RegionsError) {
            let region = try tree.find(text)
            // An id means its region alone.
            if tree[text]?.id == region.id { return nil }
            isRegion = true
        } catch {
            guard error.code == .unknownRegion else { throw error }
            isRegion = false
        }
        let found = try towns.named(text, in: tree)
        guard let first = found.first else {
            if !isRegion { try noteSimilar(to: text, towns, in: tree) }
            return nil
        }
        guard !isRegion else {
            let more = found.count > 1 ? " and \(Units.count(found.count - 1, of: "other town"))" : ""
            Console.note(
                "note: the town \(first.name), \(first.regionID)\(more) has this name too; 'packhorse regions find' lists them, and '\(first.key)' means the town"
            )
            return nil
        }
        guard found.count == 1 else { throw try ambiguous(text, found, of: towns) }
        return try .town(first, of: towns, in: tree)
    }

    /// Says that a text which names no region names a town.
    static func note(_ text: String, in tree: RegionTree) throws(RegionsError) {
        guard let town = try TownList.embedded().named(text, in: tree).first else { return }
        Console.note("note: \(town.name), \(town.regionID) is a town: 'packhorse regions find' shows it")
    }

    private static func ambiguous(_ text: String, _ found: [Town], of towns: TownList) throws -> CLIError {
        let rest = found.count - listed
        let example = try found.first.map { try towns.text(for: $0) } ?? ""
        return CLIError(
            .noInput, "'\(text)' is the name of \(Units.count(found.count, of: "town"))",
            details: try TownTable(Array(found.prefix(listed)), towns).lines
                + (rest > 0 ? ["and \(Units.count(rest)) more: packhorse regions find '\(text)'"] : []),
            hint: "add the country or region, for example '\(example)'")
    }

    private static func noteSimilar(to text: String, _ towns: TownList, in tree: RegionTree) throws {
        var similar = try towns.similar(to: text, limit: 3)
        if similar.isEmpty, let comma = text.firstIndex(of: ",") {
            // The town lies in another region than the text says.
            similar = Array(try towns.named(String(text[..<comma]), in: tree).prefix(3))
        }
        guard !similar.isEmpty else { return }
        let names = try similar.map {
            try towns.text(for: $0) == $0.key ? "\($0.name) (\($0.key))" : towns.text(for: $0)
        }
        Console.note("note: towns with a similar name: \(names.joined(separator: "; "))")
    }

    /// Refuses towns without a margin.
    ///
    /// - Parameter example: How the user gives one.
    /// - Throws: ``CLIError`` 64.
    static func check(_ areas: [Area], example: String) throws {
        guard let town = areas.lazy.flatMap(\.bareTowns).first else { return }
        throw CLIError(
            .usage, "'\(town)' is a town, which is a point on the map; it needs a margin", hint: "add \(example)")
    }
}

/// Towns as a table for people; the first column names each alone.
struct TownTable {
    let lines: [String]

    init(_ found: [Town], _ towns: TownList) throws {
        var table = Table("town", "name", "country", "people", "longitude,latitude")
        for town in found {
            table.add(
                try towns.text(for: town), town.name, town.country, Units.count(town.population), town.placeText)
        }
        lines = table.lines
    }
}

extension Town {
    /// `26.7251,58.3806`: as `regions at` takes it.
    var placeText: String {
        "\(Units.decimal(longitude, places: 4)),\(Units.decimal(latitude, places: 4))"
    }
}
