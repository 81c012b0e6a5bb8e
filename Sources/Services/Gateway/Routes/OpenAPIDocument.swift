internal import TextFormats
internal import WebRequests

/// The OpenAPI 3.1 document, made from the routes that the router uses; so it names what exists.
enum OpenAPIDocument {
    static let bytes: [UInt8] = JSONDocument.encode(document(RouteTable.routes))

    static func document(_ routes: [Route]) -> JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        for route in routes {
            // OpenAPI has no parameter of several segments; clients escape its slashes, so it is shown as one.
            let template = route.path.replacing("+}", with: "}")
            paths[template, default: [:]][route.method.rawValue.lowercased()] = operation(route, template)
        }
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("Packhorse gateway"), "version": .string(ProgramVersion.current),
                "description": .string("Catalog, packages, tiles and jobs of Packhorse."),
            ]),
            "paths": .object(paths.mapValues(JSONValue.object)),
            "components": .object([
                "securitySchemes": .object([
                    "token": .object(["type": .string("http"), "scheme": .string("bearer")])
                ]),
                "schemas": .object(OpenAPISchemas.bodies.merging(OpenAPISchemas.answers) { $1 }),
            ]),
        ])
    }

    private static func operation(_ route: Route, _ template: String) -> JSONValue {
        let path = route.pattern.names.map { parameter($0, in: "path") }
        let query = route.query.map { parameter($0, in: "query") }
        let headers = (route.headers + (route.method == .get ? ["If-None-Match"] : [])).map {
            parameter($0, in: "header")
        }
        // Two paths with one name are two operations.
        let id =
            route.name + "-"
            + String(template.utf8.reduce(UInt32(5_381)) { ($0 &* 33) ^ UInt32($1) }, radix: 36)
        var members: [String: JSONValue] = [
            "operationId": .string(id), "summary": .string(route.summary),
            "tags": .array([.string(route.group.rawValue)]),
            "responses": .object(responses(route)),
        ]
        let parameters = path + query + headers
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        switch route.access {
        case .open: break
        case .published: members["security"] = .array([.object([:]), .object(["token": .array([])])])
        case .metrics, .viewer, .operator, .client, .anyRole:
            members["security"] = .array([.object(["token": .array([])])])
        }
        if let body = route.body {
            let schema = JSONValue.object(["$ref": .string("#/components/schemas/\(body)")])
            members["requestBody"] = .object([
                "required": .bool(true),
                "content": .object([
                    OpenAPISchemas.files.contains(body) ? "application/octet-stream" : "application/json": .object([
                        "schema": schema
                    ])
                ]),
            ])
        }
        return .object(members)
    }

    private static func parameter(_ name: String, in place: String) -> JSONValue {
        .object([
            "name": .string(name), "in": .string(place), "required": .bool(place == "path"),
            "schema": OpenAPISchemas.parameter(name, in: place),
        ])
    }

    private static func responses(_ route: Route) -> [String: JSONValue] {
        let answer = route.answer
        let media = Dictionary(uniqueKeysWithValues: answer.media.map { ($0, JSONValue.object([:])) })
        func response(_ text: String, hasContent: Bool = true) -> JSONValue {
            guard hasContent else { return .object(["description": .string(text)]) }
            var content = media
            if let schema = answer.schema {
                let reference = JSONValue.object(["$ref": .string("#/components/schemas/\(schema)")])
                content["application/json"] = .object(["schema": reference])
            }
            return .object(["description": .string(text), "content": .object(content)])
        }
        let problem = JSONValue.object([
            "description": .string("An error (RFC 9457)"),
            "content": .object([
                "application/problem+json": .object([
                    "schema": .object(["$ref": .string("#/components/schemas/Problem")])
                ])
            ]),
        ])
        var found: [String: JSONValue] = ["default": problem]
        for (status, text) in answer.statuses { found[String(status)] = response(text, hasContent: status != 204) }
        if route.method == .get { found["304"] = response("The client has it", hasContent: false) }
        return found
    }
}

/// The schemas of parameters and bodies.
enum OpenAPISchemas {
    /// Bodies that are files, whatever their type.
    static let files: Set<String> = ["AreaFile"]

    static let bodies: [String: JSONValue] = [
        "Problem": object(
            [
                "type": text, "title": text, "status": integer, "detail": text, "instance": text, "code": text,
                "hint": text,
                "retriable": .object(["type": .string("boolean")]),
            ], required: ["type", "title", "status", "code"]),
        "Area": object([
            "regions": list(text), "bbox": list(.object(["type": .string("number")])), "mask": text, "margin": text,
            "name": text,
        ]),
        "AreaFile": .object(["type": .string("string"), "format": .string("binary")]),
        "Submission": object(
            [
                "tileset": text, "area": .object(["$ref": .string("#/components/schemas/Area")]), "zooms": text,
                "label": text, "formats": list(text), "priority": integer, "weight": integer, "after": list(integer),
                "tile_limit": integer, "catalog": text, "together": .object(["type": .string("boolean")]),
                "then": list(text), "labels": list(text),
                "max_file": integer,
            ], required: ["tileset", "area"]),
        "Schedule": object(
            [
                "every": text, "retry": text,
                "submission": .object(["$ref": .string("#/components/schemas/Submission")]),
            ],
            required: ["every", "submission"]),
        "JobOrder": object(["order": orders, "priority": integer, "weight": integer], required: ["order"]),
        "JobOrders": object(
            ["order": orders, "jobs": list(integer), "priority": integer, "weight": integer],
            required: ["order", "jobs"]),
        "FailedOrder": object(["order": words(["requeue", "drop"]), "batches": list(integer)], required: ["order"]),
        "ScheduleOrder": object(["order": words(["pause", "resume"])], required: ["order"]),
        "WorkerOrder": object(["order": words(["drain", "undo"])], required: ["order"]),
        "CatalogOrder": object(
            [
                "order": words(["promote", "rollback"]), "from": text, "packages": list(text), "group": text,
                "language": text, "main_edition": .object(["type": .string("boolean")]),
                "version": .object(["type": .string("integer"), "minimum": .number(1)]),
                "max_shrink": .object(["type": .string("number")]),
                "replace_tileset": .object(["type": .string("boolean")]),
                "replace_area": .object(["type": .string("boolean")]), "dry_run": .object(["type": .string("boolean")]),
            ], required: ["order"]),
        "Backup": object(["name": text], required: ["name"]),
        "Extract": object(
            [
                "tileset": text, "area": .object(["$ref": .string("#/components/schemas/Area")]),
                "max_zoom": integer, "name": text, "formats": list(words(["mbtiles", "pmtiles"])),
            ], required: ["tileset", "area"]),
    ]

    /// The schema of a parameter of a path or a query.
    static func parameter(_ name: String, in place: String) -> JSONValue {
        switch name {
        case "job", "before", "from": .object(["type": .string("integer"), "minimum": .number(1)])
        case "after", "z", "x", "version": .object(["type": .string("integer"), "minimum": .number(0)])
        case "size": .object(["type": .string("integer"), "minimum": .number(1), "maximum": .number(512)])
        case "waypoints", "route", "outline":
            .object(["type": .string("integer"), "minimum": .number(0), "maximum": .number(1)])
        case "zoom" where place == "query":
            .object(["type": .string("integer"), "minimum": .number(0), "maximum": .number(14)])
        case "limit": .object(["type": .string("integer"), "minimum": .number(1), "maximum": .number(1_000)])
        case "state": words(["fetching", "merging", "publishing", "done", "failed", "cancelled", "paused"])
        case "format": words(["mbtiles", "pmtiles"])
        case "Idempotency-Key": text(like: "^[!#-~]{1,100}$")
        case "Prefer": text(like: "^wait=[0-9]{1,2}$")
        case "Last-Event-ID": text(like: "^[0-9]{1,18}$")
        case "Range": text(like: "^bytes=[0-9]{1,15}-[0-9]{0,15}$")
        case "If-Range", "If-None-Match": text(like: "^\"[!#-~]{1,80}\"$")
        default: text
        }
    }

    private static let text = JSONValue.object(["type": .string("string")])
    private static func text(like pattern: String) -> JSONValue {
        .object(["type": .string("string"), "pattern": .string(pattern)])
    }
    private static let integer = JSONValue.object(["type": .string("integer")])
    private static let orders = words(["pause", "resume", "retry", "cancel", "prioritise", "weight"])

    static func words(_ words: [String]) -> JSONValue {
        .object(["type": .string("string"), "enum": .array(words.map(JSONValue.string))])
    }
    private static func list(_ items: JSONValue) -> JSONValue {
        .object(["type": .string("array"), "items": items])
    }
    private static func object(_ members: [String: JSONValue], required: [String] = []) -> JSONValue {
        var schema: [String: JSONValue] = [
            "type": .string("object"), "properties": .object(members), "additionalProperties": .bool(false),
        ]
        if !required.isEmpty { schema["required"] = .array(required.map(JSONValue.string)) }
        return .object(schema)
    }
}
