internal import Foundation

/// Which decoder this run is about, from the environment; libFuzzer has the arguments to itself.
private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        // Nobody can go on without knowing what to fuzz.
        fatalError("FUZZ_TARGET='\(name)' is none of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// Called by libFuzzer with each input; nothing else calls it.
///
/// - Returns: 0; a wrong verdict ends the process, which is how libFuzzer keeps its input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let verdict = target.judge(Array(UnsafeBufferPointer(start: bytes, count: count)))
    // A trap is what libFuzzer takes for a finding; no product has this module.
    if case .wrong(let what) = verdict { fatalError(what) }
    return 0
}
