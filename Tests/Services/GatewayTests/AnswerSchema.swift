import TextFormats
import WebRequests

@testable import Gateway

/// Compares an answer with the schema that the OpenAPI document has for its path.
enum AnswerSchema {
    /// What differs, one line for each place.
    static func problems(_ answer: HTTPProbe.Answer, _ path: String, method: String = "GET") -> [String] {
        guard let request = RequestPath(path), case .found(let route, _) = Router.shared.find(method, request)
        else {
            return ["\(path) has no route"]
        }
        let media = (answer.header("content-type") ?? "").prefix { $0 != ";" }
        guard route.answer.media.contains(String(media)) else { return ["\(path) has the type \(media)"] }
        guard let name = route.answer.schema else { return [] }
        guard let value = JSONValue(json: answer.body) else { return ["\(path) is no JSON"] }
        return problems(value, OpenAPISchemas.answers[name], at: name)
    }

    private static func problems(_ value: JSONValue, _ schema: JSONValue?, at place: String) -> [String] {
        guard case .object(let schema)? = schema else { return ["\(place): no schema"] }
        if case .string(let reference)? = schema["$ref"] {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            return problems(value, OpenAPISchemas.answers[name], at: place)
        }
        guard case .string(let type)? = schema["type"] else { return ["\(place): no type"] }
        switch (type, value) {
        case ("object", .object(let members)):
            guard case .object(let properties)? = schema["properties"] else { return [] }
            var found: [String] = []
            if case .array(let required)? = schema["required"] {
                for case .string(let name) in required where members[name] == nil {
                    found.append("\(place).\(name) is missing")
                }
            }
            for (name, member) in members { found += problems(member, properties[name], at: "\(place).\(name)") }
            return found
        case ("array", .array(let items)): return items.flatMap { problems($0, schema["items"], at: place + "[]") }
        case ("integer", .number(let number)) where number == number.rounded():
            guard case .number(let minimum)? = schema["minimum"], number < minimum else { return [] }
            return ["\(place) is below \(minimum)"]
        case ("string", .string(let text)):
            guard case .array(let words)? = schema["enum"], !words.contains(value) else { return [] }
            return ["\(place) is '\(text)', which is none of its words"]
        case ("number", .number), ("boolean", .bool): return []
        default: return ["\(place) is no \(type)"]
        }
    }
}
