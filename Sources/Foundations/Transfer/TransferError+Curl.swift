import CCurl

extension TransferError {
    /// The error of a server that sends a whole file, or another document, although a part was requested.
    init(wholeFileFrom url: String, _ headers: ResponseHeaders) {
        self.init(
            .rangeIgnored,
            "\(WebOrigin(url)?.authority ?? "?"): the server does not support requests for a part of a file",
            mediaType: headers.mediaType)
    }

    /// Whether it is evidence against the origin, which may have recovered at a later attempt.
    ///
    /// An answer with another part is not: the server is up, and it answers so again.
    var isOfOrigin: Bool { isRetriable && code != .wrongRange }

    /// Converts a libcurl result.
    ///
    /// The text contains only libcurl's own constant text and the host, never the whole URL.
    ///
    /// - Parameters:
    ///   - isTooLarge: Whether receiving was stopped because one of our limits was exceeded.
    ///   - hasBegun: Whether a part of the answer had arrived. Then "out of memory" means that a header line exceeds
    ///     libcurl's own limit of 100 KiB (CURL_MAX_HTTP_HEADER; since 8.6 `CURLE_TOO_LARGE`, number 100).
    init(curl code: CURLcode, isTooLarge: Bool, hasBegun: Bool, url: String) {
        let text =
            "\(WebOrigin(url)?.authority ?? "?"): \(String(cString: curl_easy_strerror(code))) (curl \(code.rawValue))"
        if isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            self.init(.tooLarge, "\(WebOrigin(url)?.authority ?? "?"): the answer is larger than the limit")
            return
        }
        if code == CURLE_OUT_OF_MEMORY && hasBegun || code.rawValue == 100 {
            self.init(
                .tooLarge, "\(WebOrigin(url)?.authority ?? "?"): a header line of the answer is longer than 100 KiB")
            return
        }
        switch code {
        // Requests are always http or https, so the answer is not HTTP.
        case CURLE_UNSUPPORTED_PROTOCOL where WebOrigin(url) != nil:
            self.init(.transport, text, isRetriable: true)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self.init(.resolveFailed, text, isRetriable: true)
        case CURLE_COULDNT_CONNECT:
            self.init(.connectFailed, text, isRetriable: true)
        case CURLE_OPERATION_TIMEDOUT:
            self.init(.timeout, text, isRetriable: true)
        case CURLE_PARTIAL_FILE:
            self.init(.truncated, text, isRetriable: true)
        case CURLE_SSL_CONNECT_ERROR:
            self.init(.tlsFailed, text, isRetriable: true)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
            self.init(.tlsFailed, text)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            self.init(.invalidRequest, text)
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_BAD_FUNCTION_ARGUMENT:
            self.init(.library, text)
        default:
            self.init(.transport, text, isRetriable: true)
        }
    }
}
