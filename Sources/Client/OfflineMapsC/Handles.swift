import OfflineMaps

// What the pointers of offlinemaps.h point to. C owns a handle between the call that returns it and its `free`.

/// A text of C that lives as long as its owner.
final class CText {
    let pointer: UnsafePointer<CChar>

    init(_ text: String) {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { copy[index] = byte }
        pointer = UnsafePointer(copy)
    }

    deinit { pointer.deallocate() }

    /// The text of absent handles.
    ///
    /// It is constant and never freed.
    nonisolated(unsafe) static let empty = CText("")
}

/// What an `ofm_error` is.
final class CError {
    let code: CText
    let message: CText

    init(_ error: StoreError) {
        code = CText(error.code.name)
        message = CText(error.message + (error.advice.map { " " + $0 } ?? ""))
    }
}

/// `ofm_data`: bytes, followed by a zero byte.
final class CData {
    let bytes: UnsafePointer<UInt8>
    let length: Int
    let type: CText

    init(_ content: [UInt8], type: String) {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: content.count + 1)
        content.withUnsafeBufferPointer { source in
            if let base = source.baseAddress { copy.initialize(from: base, count: source.count) }
        }
        copy[content.count] = 0
        (bytes, length, self.type) = (UnsafePointer(copy), content.count, CText(type))
    }

    deinit { bytes.deallocate() }
}

/// A pointer to a handle.
public typealias Handle = UnsafeMutableRawPointer

extension Handle {
    /// The object that a pointer of C points to.
    func object<Object: AnyObject>(_ type: Object.Type) -> Object {
        Unmanaged<Object>.fromOpaque(self).takeUnretainedValue()
    }

    /// Takes the object back from C.
    func taken<Object: AnyObject>(_ type: Object.Type) -> Object {
        Unmanaged<Object>.fromOpaque(self).takeRetainedValue()
    }

    /// Gives an object to C.
    static func given(_ object: some AnyObject) -> Handle { Unmanaged.passRetained(object).toOpaque() }
}
