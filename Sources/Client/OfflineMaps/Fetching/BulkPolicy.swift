internal import Foundation
internal import TextFormats

/// Whose servers may be asked for whole regions.
enum BulkPolicy {
    /// Why an address may not be downloaded in bulk; `nil` when it may.
    ///
    /// - Parameter address: Of a resource, or with the placeholders of a tile server.
    static func refusal(of address: String) -> FailureCause? {
        for server in address.contains("{s}") ? ["a", "b", "c"] : [""] {
            guard let host = URLHost(address.replacing("{s}", with: server)) else { return .invalidArguments }
            if BulkDownloads.rule(against: host) != nil { return .hostForbidsBulk }
            // Another reader of the address could see another host.
            guard host.isPlain else { return .invalidArguments }
        }
        return nil
    }

    /// Refuses to send a request to a host that forbids it.
    static func check(_ request: ResourceRequest) throws(FetchError) {
        guard request.isBulk, refusal(of: request.url.absoluteString) == .hostForbidsBulk else { return }
        throw FetchError(.hostForbidsBulk, "The host of '\(request.address)' forbids bulk downloads.")
    }

    /// Refuses to follow a redirect of a request; every hop is asked about.
    static func check(_ target: URL?, of request: ResourceRequest) throws(FetchError) {
        guard request.isBulk, let target, let cause = refusal(of: target.absoluteString) else { return }
        let reason = cause == .hostForbidsBulk ? "which forbids bulk downloads" : "which is no plain name of a host"
        throw FetchError(cause, "'\(request.address)' redirects to '\(target.host ?? "")', \(reason).")
    }
}
