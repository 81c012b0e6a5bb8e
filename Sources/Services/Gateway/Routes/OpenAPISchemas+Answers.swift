internal import TextFormats

/// The schemas of JSON answers; a test compares them with the answers of a server.
extension OpenAPISchemas {
    static let answers: [String: JSONValue] = [
        "Ready": "packages:integer sequence?:integer",
        "Status":
            "version coordinator?:Health open_jobs?:integer workers?:integer catalog_sequence?:integer packages:integer missing_tilesets:[string]",
        "Health":
            "state build epoch:integer catalog blob_store bbox_tile_limit:integer findings:[Finding]",
        "Finding": "level code text hint",
        "Submitted": "job?:integer tiles:integer batches:integer warnings:[string]",
        "Jobs": "jobs:[Job] next:integer",
        "Job": """
        job:integer label kind state tileset zoom_min:integer zoom_max:integer tiles:integer stored:integer \
        empty:integer failed:integer settled:integer bytes:integer reused:integer not_modified:integer \
        received:integer batches:integer batches_done:integer batches_failed:integer priority:integer \
        weight:integer after:[integer] elapsed_seconds:number submitted? started? ended? summary_only:boolean \
        packages_total:integer reason? waiting? formats:[string] style? group? language? \
        packages:[JobPackage] failures:[FailedTile]
        """,
        "JobPackages": "packages:[JobPackage]",
        "JobPackage":
            "id state version?:integer size?:integer tiles?:integer sha256? tiles_hash? files:[JobPackageFile]",
        "JobPackageFile": "format size:integer sha256",
        "JobFailures": "failures:[FailedTile]",
        "FailedTile": "tile cause detail",
        "FailedWork": "batches:[FailedBatch] next?:integer",
        "FailedBatch": """
        job:integer batch:integer cell zooms tiles:integer cause detail attempts:integer losses:integer \
        whole:boolean failures:[FailedTile]
        """,
        "OrderedJobs": "jobs:[OrderedJob]",
        "OrderedJob": "job:integer changed?:integer text? code?",
        "Ordered": "changed:integer text warnings?:[string]",
        "Schedules": "schedules:[ScheduleState]",
        "ScheduleState":
            "id every label next_seconds:number last_job?:integer fired:integer skipped:integer",
        "Workers": "workers:[Worker]",
        "Worker": """
        name host pid:integer build state reason? leases:integer credit:integer silent_seconds:number \
        tiles:integer bytes:integer
        """,
        "Origins": "origins:[Origin]",
        "Origin": """
        origin state per_second?:number concurrency?:integer operator_per_second?:number \
        operator_concurrency?:integer accepts_per_second?:number accepts_concurrency?:integer \
        granted_per_second?:number granted_concurrency:integer workers:integer blocked_seconds:number \
        requests:integer throttled:integer failed:integer factor:number
        """,
        "Events": "events:[Event] first:integer last:integer",
        "Event": "seq:integer time job:integer kind text data",
        "BackedUp": "path bytes:integer",
        "Tilesets": "tilesets:[Tileset] missing:[string] extract_tiles:integer",
        "Tileset": "id name? format min_zoom:integer max_zoom:integer attribution?",
        "Regions": "regions:[Region]",
        "Region": "id kind parent? name names:object path bounds:[number] children:[string]",
        "Packages": "packages:[Package]",
        "Package": """
        id edition version:integer names:object tileset? min_zoom:integer max_zoom:integer size:integer sha256 \
        url tilejson data_date? plan? plan_bytes?:integer
        """,
        "ExtractState": "id state job?:integer tiles?:integer url? size?:integer sha256? reason? waiting?",
    ].mapValues(schema)

    /// A schema of words: `name` is a text, `name:TYPE` of another type, `name?` may be absent, `name:[TYPE]` is a list;
    /// a type with a capital letter is a schema of its own.
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
        guard word.first?.isUppercase == true else { return .object(["type": .string(String(word))]) }
        return .object(["$ref": .string("#/components/schemas/\(word)")])
    }
}
