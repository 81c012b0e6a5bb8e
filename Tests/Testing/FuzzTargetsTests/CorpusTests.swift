import Foundation
import FuzzTargets
import TestSupport
import Testing

/// Every input of Tests/Corpus, judged as its name says: `NAME.VERDICT` in the folder of its target.
struct CorpusTests {
    private static let folder = Checkout.corpus("")

    private static func files(_ target: FuzzTarget) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: target.rawValue), includingPropertiesForKeys: nil
        ).filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }
    }

    private static func expected(_ file: URL) -> FuzzTarget.Verdict {
        file.pathExtension == "accepted" ? .accepted : .refused(file.pathExtension)
    }

    @Test(arguments: FuzzTarget.allCases)
    func everyInputIsJudgedAsItsNameSays(target: FuzzTarget) throws {
        let files = try Self.files(target)
        #expect(files.contains { $0.pathExtension == "accepted" })
        #expect(files.contains { $0.pathExtension != "accepted" })
        for file in files {
            #expect(target.judge(Array(try Data(contentsOf: file))) == Self.expected(file), "\(file.lastPathComponent)")
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func whatIsNearToAnInputIsJudgedToo(target: FuzzTarget) throws {
        var state: UInt64 = 20_261_121
        func random(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(bound, 1)
        }
        for file in try Self.files(target) {
            let bytes = Array(try Data(contentsOf: file))
            for _ in 0..<20 {
                var changed = bytes
                for _ in 0...random(below: 3) where !changed.isEmpty {
                    let at = random(below: changed.count)
                    switch random(below: 4) {
                    case 0: changed[at] ^= 1 << UInt8(random(below: 8))
                    case 1: changed[at] = [0, 0x7F, 0x80, 0xFF][random(below: 4)]
                    case 2: changed.removeSubrange(at...)
                    default: changed.insert(contentsOf: changed[at...].prefix(30), at: at)
                    }
                }
                if case .wrong(let what) = target.judge(changed) {
                    Issue.record("\(file.lastPathComponent), changed to \(changed.prefix(60))…: \(what)")
                }
            }
        }
    }

    @Test func theCorpusIsSmall() throws {
        var bytes = 0
        for target in FuzzTarget.allCases {
            for file in try Self.files(target) { bytes += try Data(contentsOf: file).count }
        }
        #expect(bytes < 300_000)
    }
}
