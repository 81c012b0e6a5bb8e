import OfflineMaps

// The functions of offlinemaps.h, which describes them: errors and bytes.

/// `ofm_abi_version` of offlinemaps.h.
@_cdecl("ofm_abi_version") public func abiVersion() -> Int32 { 1 }

/// `ofm_error_code` of offlinemaps.h.
@_cdecl("ofm_error_code") public func errorCode(_ error: Handle?) -> UnsafePointer<CChar>? {
    error?.object(CError.self).code.pointer ?? CText.empty.pointer
}

/// `ofm_error_message` of offlinemaps.h.
@_cdecl("ofm_error_message") public func errorMessage(_ error: Handle?) -> UnsafePointer<CChar>? {
    error?.object(CError.self).message.pointer ?? CText.empty.pointer
}

/// `ofm_error_free` of offlinemaps.h.
@_cdecl("ofm_error_free") public func freeError(_ error: Handle?) { _ = error?.taken(CError.self) }

/// `ofm_data_bytes` of offlinemaps.h.
@_cdecl("ofm_data_bytes") public func dataBytes(_ data: Handle?) -> UnsafePointer<UInt8>? {
    data?.object(CData.self).bytes
}

/// `ofm_data_length` of offlinemaps.h.
@_cdecl("ofm_data_length") public func dataLength(_ data: Handle?) -> Int { data?.object(CData.self).length ?? 0 }

/// `ofm_data_type` of offlinemaps.h.
@_cdecl("ofm_data_type") public func dataType(_ data: Handle?) -> UnsafePointer<CChar>? {
    data?.object(CData.self).type.pointer ?? CText.empty.pointer
}

/// `ofm_data_free` of offlinemaps.h.
@_cdecl("ofm_data_free") public func freeData(_ data: Handle?) { _ = data?.taken(CData.self) }
