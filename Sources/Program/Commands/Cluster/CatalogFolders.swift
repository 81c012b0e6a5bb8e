import ArgumentParser
internal import Catalog

/// Options that give something to other catalogs by name: `staging=/srv/staging`.
enum CatalogFolders {
    /// The values by name.
    ///
    /// - Throws: `ValidationError` for a text without a name of a catalog, for `main`, and for a name that is given twice.
    static func named(_ texts: [String], option: String, example: String) throws -> [String: String] {
        var values: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, PublishOptions.isCatalogName(parts[0]),
                values.updateValue(parts[1], forKey: parts[0]) == nil
            else {
                throw ValidationError(
                    "\(option) '\(SecretText.hidden(text))' does not name another catalog; write \(option) \(example). A name has 1 to 32 lower-case letters, digits and hyphens, is not 'main', and is given once."
                )
            }
        }
        return values
    }
}
