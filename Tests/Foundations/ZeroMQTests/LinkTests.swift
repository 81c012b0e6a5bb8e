import Foundation
import Testing

@testable import ZeroMQ

/// All link tests: one after another, because one of them counts the descriptors of the process.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LinkTests {}

/// Opens links and makes sure that they are closed, whatever the test does.
func withLinks<T>(
    _ serverSecurity: LinkSecurity = .plain, _ clientSecurity: LinkSecurity = .plain,
    options: LinkOptions = .quick, _ body: (RouterLink, DealerLink) async throws -> T
) async throws -> T {
    let router = try RouterLink(bind: ["tcp://127.0.0.1:*"], security: serverSecurity, options: options)
    let dealer = try DealerLink(connect: router.boundEndpoints[0], security: clientSecurity, options: options)
    let result: Result<T, any Error>
    do {
        result = .success(try await body(router, dealer))
    } catch {
        result = .failure(error)
    }
    await dealer.close()
    await router.close()
    return try result.get()
}

extension LinkOptions {
    /// Short pauses, so that a test that waits for a reconnect is done soon.
    static var quick: LinkOptions {
        var options = LinkOptions()
        options.reconnectMin = .milliseconds(20)
        options.reconnectMax = .milliseconds(100)
        options.sendPatience = .seconds(20)
        return options
    }
}

extension RouterLink {
    /// Receives until there are `count` frames; a test's time limit ends it.
    func receive(count: Int) async throws -> [Inbound] {
        var all: [Inbound] = []
        while all.count < count { all += try await receive(upTo: .seconds(5)) }
        return all
    }
}

extension DealerLink {
    func receive(count: Int) async throws -> [[UInt8]] {
        var all: [[UInt8]] = []
        while all.count < count { all += try await receive(upTo: .seconds(5)) }
        return all
    }

    /// Waits until the state is as wanted.
    func wait(until isWanted: (LinkState) -> Bool) async throws -> LinkState {
        while !isWanted(state) { _ = try await receive(upTo: .milliseconds(100)) }
        return state
    }
}

extension LinkState {
    var isRefused: Bool {
        if case .refused = self { true } else { false }
    }
}

/// A scratch folder that is gone after `body`.
func withFolder<T>(_ body: (URL) async throws -> T) async throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("packhorse-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
    return try await body(folder)
}
