internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// Passes what the session reports to the downloads.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Mutex<[Int: OngoingFetch]>([:])

    /// Adds a download before its task begins.
    func add(_ transfer: OngoingFetch, _ number: Int) { transfers.withLock { $0[number] = transfer } }

    private func transfer(_ task: URLSessionTask) -> OngoingFetch? { transfers.withLock { $0[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        var headers: [String: String] = [:]
        let answer = response as? HTTPURLResponse
        for (name, value) in answer?.allHeaderFields ?? [:] { headers["\(name)".lowercased()] = "\(value)" }
        let isWanted = transfer(dataTask)?.begin(answer?.statusCode ?? 0, headers) ?? false
        completionHandler(isWanted ? .allow : .cancel)
        if !isWanted { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if let transfer = transfer(dataTask), !transfer.receive(data) { dataTask.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(transfer(task)?.redirected(request, by: response, of: task))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        transfer?.end(error?.localizedDescription)
    }
}

extension OngoingFetch {
    /// The request after a redirect; `nil` when it must not be followed, which ends the download.
    package func redirected(
        _ request: URLRequest, by response: HTTPURLResponse, of task: URLSessionTask
    ) -> URLRequest? {
        let old = response.url ?? task.currentRequest?.url
        guard follows(old, to: request.url) else { return nil }
        return Self.withoutSecrets(request, from: old)
    }

    /// Another host gets only the headers that say which bytes are wanted: others may have access keys.
    private static func withoutSecrets(_ request: URLRequest, from old: URL?) -> URLRequest {
        guard request.url?.host != old?.host || request.url?.port != old?.port else { return request }
        let kept: Set<String> = ["range", "if-range", "if-none-match", "accept-encoding", "user-agent", "accept"]
        var request = request
        for name in (request.allHTTPHeaderFields ?? [:]).keys where !kept.contains(name.lowercased()) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        return request
    }
}
