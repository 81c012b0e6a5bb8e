import Errors
internal import TextFormats

extension URLTemplate {
    /// The error for a placeholder whose meaning is not known, with what to write.
    static func unknown(_ name: String) -> TilesetsError {
        let shown = String(name.prefix(40))
        func error(_ words: String) -> TilesetsError {
            TilesetsError(.badTemplate, "A tile URL has the unknown placeholder {\(shown)}\(words)")
        }
        let plain = name.lowercased()
        if Int(plain) != nil {
            return error(
                ": of numbers only {0}, {1} and {2} together are understood; write {z}, {x} and {y} where zoom, column and row belong."
            )
        }
        if plain.hasPrefix("bbox") || plain == "proj" || plain == "wkid" {
            return error("; write {bbox-epsg-3857}, and EPSG:3857 as the reference system of the address.")
        }
        if plain == "rnd" || plain.hasPrefix("switch") {
            return error("; write {s} and name what it stands for in 'subdomains'.")
        }
        if plain == "tilematrixset" || plain == "style" || plain == "layer" {
            return error(
                "; write its value, or let Packhorse find it: wmts:URL#layer, with the URL of the capabilities.")
        }
        if plain.contains("key") || plain.contains("token") {
            return error("; write {key} and name its environment variable in the tileset file: key: ${NAME}.")
        }
        let known = TilePlaceholder.known
        let nearest = Nearest.word(to: name, among: known).map { "; did you mean {\($0)}?" }
        return error(nearest ?? "; there are \(known.map { "{\($0)}" }.joined(separator: " ")).")
    }
}
