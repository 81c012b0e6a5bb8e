internal import Foundation

extension DownloadItem {
    /// Why its file cannot be had from its server, which file that is, and what to do; `nil` for other causes.
    ///
    /// - Parameter status: The HTTP status, where that is the reason.
    func text(of cause: FailureCause, status: Int? = nil) -> String? {
        let problem: String
        let remedy: String
        let publisher = "the publisher has to push the catalog again"
        switch cause {
        case .notFound: (problem, remedy) = (cause.words, isTile ? "ask who runs the server" : publisher)
        case .notAllowed:
            problem = cause.words + (status.map { " with the HTTP status \($0)" } ?? "")
            remedy = "check the token (packhorse: PACKHORSE_CATALOG_TOKEN), or ask who runs the server"
        case .badBytes: (problem, remedy) = ("\(cause.words), also the second time", publisher)
        default: return nil
        }
        // Without its query, which may have a key.
        let address = details?.address.absoluteString.split(separator: "?").first.map { ": '\($0)'" } ?? ""
        return "\(problem)\(address); \(remedy)"
    }
}
