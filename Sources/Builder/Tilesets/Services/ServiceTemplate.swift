/// Parts of tile URLs that are made from the description of a service.
enum ServiceTemplate {
    /// Percent-encodes a name; colons stay, which many services do not expect to be encoded.
    static func escaped(_ name: String) -> String { URLTemplate.escaped(name).replacing("%3A", with: ":") }

    /// Fills in the placeholders of a template, whatever the case of their names; others stay.
    ///
    /// - Parameter values: By names in lower case.
    static func filled(_ template: String, _ values: [String: String]) -> String {
        var text = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let name = rest[rest.index(after: open)..<close]
            text += rest[..<open]
            text += values[name.lowercased()] ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return text + rest
    }
}
