/// Joins the message of an error below into another sentence.
package enum Sentence {
    /// A message as it follows a colon: it begins with a lower-case letter and has no full stop at the end.
    ///
    /// A first word with further capitals is a name and stays unchanged: GeoJSON.
    package static func inner(_ text: String) -> String {
        var line = text
        if line.last == ".", !line.hasSuffix("..") { line.removeLast() }
        let word = line.prefix { $0 != " " }
        guard let first = line.first, first.isUppercase, !word.dropFirst().contains(where: \.isUppercase) else {
            return line
        }
        return first.lowercased() + line.dropFirst()
    }

    /// That a thing cannot be read, and why; a message that names the thing already is not put behind its name again.
    ///
    /// - Parameter thing: A path or an address.
    package static func unreadable(_ thing: String, _ message: String) -> String {
        message.contains("'\(thing)'") ? message : "'\(thing)' cannot be read: \(inner(message))"
    }

    /// The article of a word: `an` before a vowel and before `m` of abbreviations that are spelled.
    package static func article(_ word: String) -> String {
        let spelled = ["mbtiles", "mvt", "mlt"].contains { word.lowercased().hasPrefix($0) }
        return spelled || word.first.map { "aeiouAEIOU".contains($0) } == true ? "an" : "a"
    }
}
