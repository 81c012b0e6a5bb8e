internal import Errors
internal import Foundation
internal import Transfer

/// Temporary keys that a server gives: asked for when the first request needs them, and again before they expire.
actor RenewedKeys {
    /// Keys and their end.
    struct Keys: Sendable {
        let credentials: S3Credentials
        let expires: Date
        let renews: Date

        /// - Parameter values: The access key, the secret key and the session token.
        /// - Throws: ``S3Error`` `missing-secret` when one is missing.
        init(_ values: [String?], expires: Date, of place: String) throws(S3Error) {
            let names = S3Credentials.variables
            let named = Dictionary(zip(names, values.map { $0 ?? "" }), uniquingKeysWith: { first, _ in first })
            credentials = try S3Credentials(named, names: names, of: place)
            self.expires = expires
            let life = max(0, expires.timeIntervalSinceNow)
            renews = expires - min(RenewedKeys.reserve, life / 4)
        }
    }

    /// Keys are renewed this long before their end, or when a quarter of their life is left.
    private static let reserve = 300.0
    /// Between two attempts to renew keys that are still valid.
    private static let pause = 15.0
    /// The largest answer and token.
    ///
    /// Unit: bytes.
    static let maxSize = 1 << 16

    private let ask: @Sendable () async throws -> Keys
    private var keys: Keys?
    private var nextTry = Date.distantPast
    /// The question that is under way: several requests may need new keys at once.
    private var question: Task<Keys, any Error>?

    /// - Parameter ask: Gets new keys; throws ``S3Error``.
    init(_ ask: @escaping @Sendable () async throws -> Keys) { self.ask = ask }

    /// The keys, new ones when it is time.
    ///
    /// - Throws: The error of the question; none while the former keys are valid.
    func current() async throws(S3Error) -> S3Credentials {
        let now = Date()
        if let keys, now < keys.renews || now < nextTry && now < keys.expires { return keys.credentials }
        let task = question ?? Task { [ask] in try await ask() }
        question = task
        let result = await task.result
        // Another request that waited for it may have asked again.
        if question == task { question = nil }
        switch result {
        case .success(let new):
            keys = new
            return new.credentials
        case .failure(let error):
            nextTry = Date() + Self.pause
            if let keys, Date() < keys.expires { return keys.credentials }
            throw error as? S3Error ?? S3Error(.unreachable, "No keys for S3: \(error)", cause: error)
        }
    }

    /// Sends a question, and returns status and body of the answer.
    ///
    /// - Parameter who: The server, for messages.
    /// - Throws: ``S3Error`` `unreachable`.
    static func answer(
        _ request: TransferRequest, of who: String
    ) async throws(S3Error) -> (status: Int, body: [UInt8]) {
        do {
            var options = TransferOptions()
            options.maxBodyBytes = maxSize
            let answer = try await TransferClient(options).send(request)
            return (answer.status, answer.body)
        } catch {
            throw S3Error(.unreachable, "\(who) gives no keys for S3: \(error.message)", cause: error)
        }
    }

    /// The content of a file with a token, without white space at its ends.
    ///
    /// - Parameter variable: What names the file, for messages.
    /// - Throws: ``S3Error`` `missing-secret`.
    static func token(in file: URL, variable: String) throws(S3Error) -> String {
        let what = "The token for S3, '\(file.path)' (\(variable)),"
        let text = try SecretFile.text(of: file, maxSize: maxSize, what)
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else { throw S3Error(.missingSecret, "\(what) is empty.") }
        return token
    }

    /// A time with or without fractions of a second; `nil` for another form.
    static func date(_ text: String) -> Date? {
        let whole = text.firstIndex(of: ".").map { String(text[..<$0]) + "Z" } ?? text
        // Another form is no time.
        return try? Date(whole, strategy: .iso8601)
    }
}
