internal import Errors
internal import Foundation
internal import S3
internal import TextFormats
internal import Transfer

extension S3Bucket {
    /// A request that got no answer.
    func failure(_ error: TransferError) -> S3Error {
        switch error.code {
        case .diskFull: S3Error(.diskFull, "No space left for an object of \(place): \(error.message).")
        case .fileFailed: S3Error(.fileFailed, "A transfer with \(place) failed here: \(error.message).")
        case .tooLarge: S3Error(.tooLarge, "An object of \(place) is larger than expected.")
        case .invalidRequest: S3Error(.badLocation, "\(place) cannot be requested: \(error.message).")
        case .tlsFailed where !error.isRetriable:
            S3Error(
                .badLocation,
                "The certificate of \(place) is not trusted here (\(error.message)). Install its authority's certificate."
            )
        case .tlsFailed, .resolveFailed, .connectFailed, .timeout, .truncated, .rangeIgnored, .wrongRange, .transport,
            .tooManyRedirects, .redirectRefused, .cancelled, .library:
            S3Error(
                .unreachable,
                "\(place) does not answer (\(error.message)). Check --s3-endpoint and that the server runs; work continues"
                    + " when it is back.")
        }
    }

    /// The error for an unexpected answer.
    ///
    /// - Parameter action: What was attempted, as a verb and its object.
    func refusal(of answer: TransferResponse, _ action: String) -> S3Error {
        let code = Self.code(in: answer.body)
        let found = "\(code ?? "no reason"), HTTP \(answer.status)"
        switch code {
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidTokenId", "InvalidToken", "ExpiredToken":
            return S3Error(
                .wrongSecret,
                "\(place) does not accept the credentials (\(found)). Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and"
                    + " AWS_SESSION_TOKEN or the credentials file, and --s3-region (now '\(endpoint.region)').")
        case "RequestTimeTooSkewed", "RequestExpired":
            return S3Error(
                .clockSkew,
                "\(place) refuses the time of a request (\(found))\(Self.skew(answer.headers.date)). Set this machine's clock."
            )
        case "NoSuchBucket":
            return S3Error(
                .noBucket,
                "There is no bucket '\(location.bucket)' at '\(endpoint)' (\(found)). Make it, or correct --blobs.")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect":
            return S3Error(
                .wrongRegion,
                "\(place) is not in region '\(endpoint.region)' (\(found)). Correct --s3-region and --s3-endpoint.")
        default: break
        }
        switch answer.status {
        case 300..<400:
            return S3Error(
                .wrongRegion,
                "\(place) redirects to another address (\(found)). Correct --s3-endpoint and --s3-region.")
        case 401, 403:
            return S3Error(
                .forbidden,
                "\(place) does not let these credentials \(action) (\(found)). They need to read, write, list and delete there."
            )
        case 408, 425, 429, 500...599:
            return S3Error(
                .unreachable, "\(place) cannot \(action) now (\(found)). Work continues when it can.")
        default:
            return S3Error(
                .badAnswer,
                "\(place) refused to \(action) (\(found)). Is --s3-endpoint an S3 server that supports path-style addresses?"
            )
        }
    }

    /// The server's name for an error; other text is ignored.
    private static func code(in body: [UInt8]) -> String? {
        guard let error = S3Document(body).first("Error"), let code = error.text("Code") else { return nil }
        guard (1...64).contains(code.utf8.count), code.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            return nil
        }
        return code
    }

    /// The difference of the clocks, if the answer has a date.
    private static func skew(_ date: String?) -> String {
        guard let server = date.flatMap(HTTPDate.secondsSince1970) else { return "" }
        let ahead = Int64(Date().timeIntervalSince1970) - server
        guard abs(ahead) >= 1 else { return "" }
        return ": the clock here is \(abs(ahead)) s \(ahead > 0 ? "ahead of" : "behind") the server's"
    }
}
