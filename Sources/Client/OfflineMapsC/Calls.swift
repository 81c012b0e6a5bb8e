import Dispatch
import OfflineMaps
import Synchronization

/// Runs the body of a function of C.
///
/// - Returns: The error that it threw, for C to free; `nil` for none.
func attempt(_ body: () throws(StoreError) -> Void) -> Handle? {
    do throws(StoreError) {
        try body()
        return nil
    } catch { return .given(CError(error)) }
}

/// A result of asynchronous work that a thread of C waits for.
private final class Place<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, StoreError>?>(nil)
    let end = DispatchSemaphore(value: 0)
}

/// Does asynchronous work and waits for its end; only for threads of C and of the library, which Swift's tasks do not use.
func blocking<Value: Sendable>(
    _ work: @escaping @Sendable () async throws(StoreError) -> Value
) throws(StoreError) -> Value {
    let place = Place<Value>()
    Task.detached {
        let result: Result<Value, StoreError>
        do throws(StoreError) { result = .success(try await work()) } catch { result = .failure(error) }
        place.result.withLock { $0 = result }
        place.end.signal()
    }
    place.end.wait()
    guard let result = place.result.withLock({ $0 }) else { throw .needed("result") }
    return try result.get()
}

extension StoreError {
    /// An argument that must not be NULL.
    static func needed(_ name: String) -> StoreError { StoreError(.invalidArguments, "'\(name)' is NULL.") }
}

/// A text that C gave.
///
/// - Throws: `invalid-arguments` for NULL and for bytes that are no UTF-8.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(StoreError) -> String {
    guard let pointer else { throw .needed(name) }
    guard let text = String(validatingCString: pointer) else {
        throw StoreError(.invalidArguments, "'\(name)' is no UTF-8.")
    }
    return text
}

/// The same for a text that may be NULL.
func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(StoreError) -> String? {
    pointer == nil ? nil : try text(pointer, name)
}

/// The maps of a handle, and where the result is to be put.
///
/// - Throws: `invalid-arguments` for NULL.
func open<Result>(
    _ maps: Handle?, _ out: UnsafeMutablePointer<Result>?
) throws(StoreError) -> (maps: MapsHandle, out: UnsafeMutablePointer<Result>) {
    guard let maps else { throw .needed("maps") }
    guard let out else { throw .needed("result") }
    return (maps.object(MapsHandle.self), out)
}
