import Foundation

/// The value of an option, and where it comes from.
struct Setting: Equatable {
    enum Origin: Equatable {
        /// The command line.
        case flag
        case environment(variable: String)
        case file(String, line: Int)
        case usual

        /// For people: `worker.yaml:3`.
        var text: String {
            switch self {
            case .flag: "command line"
            case .environment(let variable): "environment, \(variable)"
            case .file(let name, let line): "\(name):\(line)"
            case .usual: "default"
            }
        }
    }

    let option: ServiceOption
    /// Several for a repeated option; none for one without a value.
    let values: [String]
    let origin: Origin

    /// The values as they may be shown.
    var shown: [String] { values.map { SecretText.hidden($0, option: option) } }
}

/// Hides what values may have of secrets.
///
/// Keys and passwords are in files, and only the names of files are values; addresses may have them inside.
enum SecretText {
    /// Options whose addresses are secrets as a whole: everyone with the address of a webhook can send to it.
    private static let secretAddresses: Set = ["notify"]

    static func hidden(_ value: String, option: ServiceOption? = nil) -> String {
        guard let separator = value.firstRange(of: "://") else { return value }
        let scheme = value[..<separator.upperBound]
        let rest = value[separator.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let user = host.startIndex == authority.startIndex ? "" : "…@"
        let behind = rest[authority.endIndex...]
        if let option, secretAddresses.contains(option.name) {
            return scheme + user + host + (behind.isEmpty ? "" : "/…")
        }
        guard let query = behind.firstIndex(of: "?") else { return scheme + user + host + behind }
        return scheme + user + host + behind[..<query] + "?…"
    }
}
