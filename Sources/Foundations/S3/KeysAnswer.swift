internal import Errors
internal import Foundation

/// Temporary keys as Amazon's servers of containers and of machines write them in JSON.
struct KeysAnswer: Decodable {
    private let accessKey: String
    private let secretKey: String
    private let token: String
    private let expiration: String

    /// Names as the servers write them.
    private enum CodingKeys: String, CodingKey {
        case accessKey = "AccessKeyId"
        case secretKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    /// The keys of an answer.
    ///
    /// - Parameter server: Who answered, for messages.
    /// - Throws: ``S3Error`` `bad-answer` for other bytes; `missing-secret` when a key is empty.
    static func keys(_ body: [UInt8], from server: String) throws(S3Error) -> RenewedKeys.Keys {
        // Another text is no answer.
        let answer = try? JSONDecoder().decode(KeysAnswer.self, from: Data(body))
        guard let answer, let expires = RenewedKeys.date(answer.expiration) else {
            throw S3Error(.badAnswer, "\(server) answers without keys and their end.")
        }
        return try RenewedKeys.Keys(
            [answer.accessKey, answer.secretKey, answer.token], expires: expires, of: "the answer of \(server)")
    }
}
