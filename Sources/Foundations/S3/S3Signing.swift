public import Transfer

extension TransferRequest {
    /// A request for an object, signed, by path (`endpoint/bucket/key`).
    ///
    /// - Parameters:
    ///   - query: As ``S3Text/query(_:)`` makes it.
    ///   - sha256: Of what is sent, in hexadecimal.
    public init(
        _ endpoint: S3Endpoint, path: String, query: String = "", sha256: String = S3Text.nothing,
        credentials: S3Credentials
    ) {
        self.init(tag: 0, url: "\(endpoint.url)/\(S3Text.path(path))\(query)")
        guard !credentials.areNone else { return }
        signing = TransferSigning(
            region: endpoint.region, service: "s3", accessKey: credentials.accessKey, secretKey: credentials.secretKey)
        // libcurl signs this header; if it is present, libcurl does not hash the body itself.
        headers = [HeaderField("x-amz-content-sha256", sha256)]
        if let token = credentials.sessionToken { headers.append(HeaderField("x-amz-security-token", token)) }
    }
}
