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

/// Called by libFuzzer with each input; nothing else calls it.
///
/// - Returns: 0; a wrong verdict ends the process, so that libFuzzer keeps its input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let verdict = target.judge(Array(UnsafeBufferPointer(start: bytes, count: count)))
    // libFuzzer records a trap as a finding; no product contains this module.
    if case .wrong(let what) = verdict { fatalError(what) }
    return 0
}
