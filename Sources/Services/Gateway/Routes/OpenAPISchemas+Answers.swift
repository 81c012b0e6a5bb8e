internal import ClusterClient
internal import TextFormats

/// The schemas of JSON answers: those of messages, and these; a test compares them with the answers of a server.
extension OpenAPISchemas {
    static let answers: [String: JSONValue] = [
        "Session": "is_private:boolean roles:[client|viewer|operator]",
        "Ready": "packages:integer sequence?:integer",
        "Status":
            "version coordinator?:Health open_jobs?:integer workers?:integer catalog_sequence?:integer packages:integer missing_tilesets:[string]",
        "Submitted": "job?:integer tiles:integer batches:integer warnings:[string]",
        "Jobs": "jobs:[Job] next:integer",
        "JobPackages": "packages:[JobPackage]",
        "JobFailures": "failures:[FailedTile]",
        "FailedWork": "batches:[FailedBatch] next?:integer",
        "OrderedJobs": "jobs:[OrderedJob]",
        "OrderedJob": "job:integer changed?:integer text? code?",
        "Ordered": "changed:integer text warnings?:[string]",
        "Schedules": "schedules:[ScheduleState]",
        "ScheduleFirings": "firings:[Firing]",
        "Workers": "workers:[Worker]",
        "Origins": "origins:[Origin]",
        "Events": "events:[Event] first:integer last:integer",
        "BackedUp": "path bytes:integer",
        "Tilesets": "tilesets:[Tileset] missing:[string] extract_tiles:integer public_url?",
        "Tileset": "id name? format min_zoom:integer max_zoom:integer attribution?",
        "Regions": "regions:[Region] towns:[Town]",
        "Town": "id name country region path population:integer longitude:number latitude:number",
        "RegionTiles": "id bounds:[number] counts:[integer] mask",
        "AreaTiles": "format bounds:[number] zoom:integer tiles:integer mask outline?:AreaOutline",
        "AreaOutline": "lines:[[[number]]] points:[[number]]",
        "Region": "id kind parent? name names:object path bounds:[number] children:[string]",
        "Packages": "packages:[Package]",
        "Package": """
        id edition version:integer names:object tileset? min_zoom:integer max_zoom:integer size:integer sha256? \
        url? tilejson data_date? plan? plan_bytes?:integer part?:Part parts?:[Package]
        """,
        "Part": "of number:integer count:integer",
        "CatalogDifference": """
        packages:[PackageDifference] unchanged:integer new:CatalogSum old:CatalogSum shrinkage:number warnings:[string] \
        sequence?:integer omitted:integer
        """,
        "PackageDifference": """
        change:added|changed|removed edition id new?:PackageContent old?:PackageContent shrinkage:number published?:integer
        """,
        "PackageContent": """
        version:integer tiles?:integer bytes:integer parts?:integer min_zoom?:integer max_zoom?:integer bounds?:[number] \
        attribution? data_date? tileset? layers?:[string]
        """,
        "CatalogSum": "packages:integer tiles:integer bytes:integer",
        "ExtractState":
            """
        id state job?:integer tiles?:integer settled?:integer url? size?:integer sha256? files?:[ExtractFile] reason? \
        waiting?
        """,
        "ExtractFile": "format url size:integer sha256",
        "MapSample": """
        tiles:integer sampled:integer bytes?:integer margin?:integer files:[SampledFile] seconds?:number reason? \
        retry_after?:integer
        """,
        "SampledFile": "format bytes:integer margin?:integer",
        "Catalogs": "catalogs:[string]",
    ].merging(MessageSchemas.words) { $1 }.mapValues(schema)

    /// A schema of words: `name` is a text, `name:TYPE` of another type, `name?` may be absent, `name:[TYPE]` is a list,
    /// `name:a|b` one of these texts; a type with a capital letter is a schema of its own.
    private static func schema(_ members: String) -> JSONValue {
        var properties: [String: JSONValue] = [:]
        var required: [JSONValue] = []
        for word in members.split(separator: " ") {
            let parts = word.split(separator: ":", maxSplits: 1)
            let name = String(parts[0].prefix { $0 != "?" })
            if !parts[0].hasSuffix("?") { required.append(.string(name)) }
            properties[name] = type(parts.count > 1 ? parts[1] : "string")
        }
        return .object([
            "type": .string("object"), "properties": .object(properties), "required": .array(required),
            "additionalProperties": .bool(false),
        ])
    }

    private static func type(_ word: Substring) -> JSONValue {
        if word.first == "[" {
            return .object(["type": .string("array"), "items": type(word.dropFirst().dropLast())])
        }
        if word.contains("|") { return words(word.split(separator: "|").map(String.init)) }
        if word == "unsigned" { return .object(["type": .string("integer"), "minimum": .number(0)]) }
        guard word.first?.isUppercase == true else { return .object(["type": .string(String(word))]) }
        return .object(["$ref": .string("#/components/schemas/\(word)")])
    }
}
