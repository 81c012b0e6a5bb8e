import OfflineMaps

// The functions of offlinemaps.h, which describes them: downloads.

/// `ofm_maps_download` of offlinemaps.h.
@_cdecl("ofm_maps_download") public func download(
    _ maps: Handle?, package: UnsafePointer<CChar>?, style: UnsafePointer<CChar>?, progress: ProgressFunction?,
    context: UnsafeMutableRawPointer?, download: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, download) = try open(maps, download)
        let (id, style) = (try text(package, "package"), try optionalText(style, "style"))
        let listener = progress.map { ProgressListener($0, context: context) }
        download.pointee = .given(handle.begin(handle.maps.download(id, style: style), listener))
    }
}

/// `ofm_maps_update` of offlinemaps.h.
@_cdecl("ofm_maps_update") public func update(
    _ maps: Handle?, progress: ProgressFunction?, context: UnsafeMutableRawPointer?, download: HandleResult?
) -> Handle? {
    attempt { () throws(StoreError) in
        let (handle, download) = try open(maps, download)
        let listener = progress.map { ProgressListener($0, context: context) }
        download.pointee = .given(handle.begin(handle.maps.update(), listener))
    }
}

/// `ofm_maps_remove` of offlinemaps.h.
@_cdecl("ofm_maps_remove") public func remove(_ maps: Handle?, package: UnsafePointer<CChar>?) -> Handle? {
    attempt { () throws(StoreError) in
        guard let maps else { throw .needed("maps") }
        let (handle, id) = (maps.object(MapsHandle.self), try text(package, "package"))
        try blocking { [maps = handle.maps] () async throws(StoreError) in try await maps.remove(id) }
    }
}

/// `ofm_download_wait` of offlinemaps.h.
@_cdecl("ofm_download_wait") public func wait(
    _ download: Handle?, milliseconds: Int64, ended: UnsafeMutablePointer<Int32>?
) -> Handle? {
    attempt { () throws(StoreError) in
        guard let download else { throw .needed("download") }
        guard !CallbackThread.shared.isCurrent else {
            throw StoreError(
                .wrongState, "A progress function may not wait: the download would wait for it.",
                advice: "Call ofm_download_wait on a thread of the app.")
        }
        // A year is without a limit for a download.
        let outcome = download.object(DownloadHandle.self).wait(
            milliseconds < 0 ? nil : Int(min(milliseconds, 365 * 86_400_000)))
        ended?.pointee = outcome == nil ? 0 : 1
        try outcome?.get()
    }
}

/// `ofm_download_cancel` of offlinemaps.h.
@_cdecl("ofm_download_cancel") public func cancel(_ download: Handle?) {
    download?.object(DownloadHandle.self).cancel()
}

/// `ofm_download_free` of offlinemaps.h.
@_cdecl("ofm_download_free") public func freeDownload(_ download: Handle?) {
    download?.taken(DownloadHandle.self).close()
}
