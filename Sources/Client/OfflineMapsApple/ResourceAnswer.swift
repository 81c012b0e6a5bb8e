package import Foundation
package import OfflineMaps

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// What a renderer gets for an address: as a web server would answer, without a coding.
///
/// URL loading systems undo a Content-Encoding only of their own connections, so the bytes are unpacked here.
package struct ResourceAnswer: Sendable {
    package var status: Int
    package var headers: [String: String]
    package var body: Data

    /// The answer for a resource; `nil` means that it is not here.
    ///
    /// - Throws: `damaged` when the stored bytes cannot be unpacked.
    package init(_ resource: Resource?) throws(StoreError) {
        guard let resource else {
            self.init(404)
            return
        }
        guard !resource.isEmpty else {
            self.init(204)
            return
        }
        self.init(200)
        body = try resource.uncompressed()
        headers["Content-Type"] = resource.mediaType
        headers["Content-Length"] = "\(body.count)"
        if let etag = resource.etag { headers["ETag"] = etag }
    }

    private init(_ status: Int) {
        self.status = status
        body = Data()
        // A page in a web view has another origin than the addresses of its map.
        headers = ["Access-Control-Allow-Origin": "*", "Cache-Control": "no-store", "Content-Length": "0"]
    }

    /// The answer's head; `nil` for an address that HTTP does not have.
    package func head(for url: URL) -> HTTPURLResponse? {
        HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
    }
}
