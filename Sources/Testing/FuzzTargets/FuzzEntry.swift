internal import Foundation

/// The decoder of this run, from the environment; libFuzzer uses the arguments.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        // Without a target there is nothing to fuzz.
        fatalError("FUZZ_TARGET='\(name)' is not one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// The first byte of each input, from the environment: of a target with several decoders, only one is fuzzed.
private let selector = ProcessInfo.processInfo.environment["FUZZ_SELECTOR"].flatMap(\.utf8.first)

/// Called by libFuzzer with each input; nothing else calls it.
///
/// - Returns: 0; a wrong verdict ends the process, so that libFuzzer keeps its input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Array(UnsafeBufferPointer(start: bytes, count: count))
    if let selector, !input.isEmpty { input[0] = selector }
    let verdict = target.judge(input)
    // libFuzzer records a trap as a finding; no product contains this module.
    if case .wrong(let what) = verdict { fatalError(what) }
    return 0
}
