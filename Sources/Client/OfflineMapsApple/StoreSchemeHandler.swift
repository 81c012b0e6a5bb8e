#if canImport(WebKit)
    internal import Foundation
    public import OfflineMaps
    public import WebKit

    /// Serves a store to a map page in a web view, below an own scheme.
    ///
    /// Register it with `WKWebViewConfiguration.setURLSchemeHandler(_:forURLScheme:)` as `offline-maps`. A style for the
    /// page is `ResourceResolver.style(id, .served(at: StoreSchemeHandler.base))`; the page may also read it at
    /// `offline-maps://store/styles/ID`.
    @MainActor
    public final class StoreSchemeHandler: NSObject, WKURLSchemeHandler {
        /// The scheme of the addresses.
        public nonisolated static let scheme = "offline-maps"
        /// Below which address everything is.
        public nonisolated static let base = URL(string: "\(scheme)://store")

        private let resources: ResourceResolver
        private let isOnline: Bool
        private var running: [ObjectIdentifier: Task<Void, Never>] = [:]

        /// Makes a handler.
        ///
        /// - Parameter isOnline: Whether the network is asked for what the store does not have.
        public init(_ resources: ResourceResolver, isOnline: Bool = false) {
            self.resources = resources
            self.isOnline = isOnline
        }

        /// Answers a request of the page.
        public func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
            let key = ObjectIdentifier(urlSchemeTask)
            guard let url = urlSchemeTask.request.url else {
                return urlSchemeTask.didFailWithError(URLError(.badURL))
            }
            running[key] = Task { [resources, isOnline] in
                let answer = await Self.answer(Self.path(url), from: resources, isOnline: isOnline)
                // WebKit forbids calls after `stop`.
                guard running.removeValue(forKey: key) != nil, !Task.isCancelled else { return }
                guard let answer, let head = answer.head(for: url) else {
                    return urlSchemeTask.didFailWithError(URLError(.cannotDecodeContentData))
                }
                urlSchemeTask.didReceive(head)
                urlSchemeTask.didReceive(answer.body)
                urlSchemeTask.didFinish()
            }
        }

        /// Ends a request that the page does not want any more.
        public func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
            running.removeValue(forKey: ObjectIdentifier(urlSchemeTask))?.cancel()
        }

        /// The part of an address below ``base``, with its query, as it was sent.
        private nonisolated static func path(_ url: URL) -> String {
            let start = "\(scheme)://store"
            let text = url.absoluteString
            return text.hasPrefix(start) ? String(text.dropFirst(start.count)) : ""
        }

        /// `nil` when what is asked for is here and cannot be read.
        private nonisolated static func answer(
            _ path: String, from resources: ResourceResolver, isOnline: Bool
        ) async -> ResourceAnswer? {
            do throws(StoreError) {
                if path.hasPrefix("/styles/"), let base,
                    let id = String(path.dropFirst("/styles/".count)).removingPercentEncoding
                {
                    let style = try resources.style(id, .served(at: base))
                    return try ResourceAnswer(Resource(body: style, mediaType: "application/json"))
                }
                let found =
                    isOnline ? try await resources.load(served: path) : try resources.resource(served: path)
                return try ResourceAnswer(found)
            } catch {
                // Not found is answered with 404. Failures and damaged files end the load with an error.
                return error.code == .notFound ? try? ResourceAnswer(nil) : nil
            }
        }
    }
#endif
