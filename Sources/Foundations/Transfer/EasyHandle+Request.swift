import CCurl
import Glibc

extension EasyHandle {
    /// Largest body of an answer that is not the requested part, for example an error page.
    ///
    /// Bytes.
    private static let maxErrorPage = 64 << 10

    /// Largest body that is sent without waiting for "100 Continue".
    ///
    /// Bytes.
    private static let maxUnasked: UInt64 = 1 << 20

    /// How long a larger body waits for it: libcurl's own default.
    ///
    /// Milliseconds.
    private static let maxWait = 1_000

    /// Sets the options of a request that is not a plain GET, and clears those of the handle's last request.
    func applyOptions(_ request: TransferRequest) throws(TransferError) {
        let isPlain =
            request.method == .get && request.sink == nil && request.signing == nil && request.range == nil
            && request.receiver == nil
        guard hasOptions || !isPlain else { return }
        removeOptions()
        guard !isPlain else { return }
        hasOptions = true
        switch request.method {
        case .get: break
        case .head:
            _ = ph_easy_set_long(handle, CURLOPT_NOBODY, 1)
            // The announced length differs from the length that arrives.
            _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, 0)
        case .delete: _ = ph_easy_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        case .put, .post: try send(request)
        }
        if let sink = request.sink { try receive(into: sink) }
        // The receiver knows how much it takes.
        if request.receiver != nil { _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, 0) }
        if let range = request.range, let job {
            _ = ph_easy_set_text(handle, CURLOPT_RANGE, "\(job.held.start(of: range))-\(range.upperBound - 1)")
            // A whole file instead of the part is refused by its announced length; an error page is accepted.
            let most = curl_off_t(clamping: max(range.count, Self.maxErrorPage))
            _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, most)
        }
        if let signing = request.signing {
            _ = ph_easy_set_text(handle, CURLOPT_AWS_SIGV4, signing.provider)
            _ = ph_easy_set_text(handle, CURLOPT_USERNAME, signing.accessKey)
            _ = ph_easy_set_text(handle, CURLOPT_PASSWORD, signing.secretKey)
        }
    }

    private func removeOptions() {
        hasOptions = false
        _ = ph_easy_set_long(handle, CURLOPT_HTTPGET, 1)
        for option in [
            CURLOPT_CUSTOMREQUEST, CURLOPT_RANGE, CURLOPT_AWS_SIGV4, CURLOPT_USERNAME, CURLOPT_PASSWORD,
        ] {
            _ = ph_easy_set_text(handle, option, nil)
        }
        _ = ph_easy_set_long(handle, CURLOPT_HTTPAUTH, 1)
        _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(limit))
    }

    private func send(_ request: TransferRequest) throws(TransferError) {
        let body = try OutgoingBody(request.upload)
        outgoing = body
        // A signed request cannot do without "Expect: 100-continue": libcurl would sign the line that leaves it out. A small
        // body does not wait for an answer that many servers never give.
        let wait = body.count <= Self.maxUnasked ? 1 : Self.maxWait
        _ = ph_easy_set_long(handle, CURLOPT_EXPECT_100_TIMEOUT_MS, wait)
        _ = ph_easy_set_long(handle, CURLOPT_UPLOAD, 1)
        _ = ph_easy_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.count))
        if request.method == .post { _ = ph_easy_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ph_easy_set_pointer(handle, CURLOPT_READDATA, context)
        _ = ph_easy_set_data(handle, CURLOPT_READFUNCTION) { bytes, size, count, context in
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return EasyHandle.from(context)?.outgoing?.next(into: buffer) ?? Int(CURL_READFUNC_ABORT)
        }
        // libcurl rewinds the body when a kept connection turns out to be closed.
        _ = ph_easy_set_pointer(handle, CURLOPT_SEEKDATA, context)
        _ = ph_easy_set_seek(handle, CURLOPT_SEEKFUNCTION) { context, offset, origin in
            guard origin == SEEK_SET, offset >= 0, let body = EasyHandle.from(context)?.outgoing else {
                return CURL_SEEKFUNC_FAIL
            }
            body.seek(to: UInt64(offset))
            return CURL_SEEKFUNC_OK
        }
    }

    private func receive(into sink: TransferSink) throws(TransferError) {
        let incoming = try IncomingFile(sink)
        file = incoming
        if incoming.held > 0 { _ = ph_easy_set_text(handle, CURLOPT_RANGE, "\(incoming.held)-") }
        let most = curl_off_t(clamping: max(1, sink.maxBytes))
        _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, most)
    }
}

/// The body that one attempt sends.
///
/// Owned by the transfer thread.
final class OutgoingBody {
    /// Number of bytes.
    let count: UInt64
    private let bytes: [UInt8]
    private let file: TransferFile?
    private var sent: UInt64 = 0

    init(_ upload: TransferUpload?) throws(TransferError) {
        switch upload {
        case nil:
            (bytes, file, count) = ([], nil, 0)
        case .bytes(let bytes):
            (self.bytes, file, count) = (bytes, nil, UInt64(bytes.count))
        case .file(let path, let offset, let count):
            let file = try TransferFile(reading: path, from: offset)
            guard offset <= file.size, count <= file.size - offset else {
                throw TransferError(
                    .fileFailed, "'\(path)' has \(file.size) bytes; the request needs \(count) from offset \(offset)")
            }
            (bytes, self.file, self.count) = ([], file, count)
        }
    }

    var failure: TransferError? { file?.failure }

    /// Fills the buffer with the next bytes.
    ///
    /// Returns 0 at the end, `nil` when the file failed.
    func next(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let wanted = Int(min(UInt64(buffer.count), count - sent))
        guard wanted > 0 else { return 0 }
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        if let file {
            guard let got = file.read(into: part) else { return nil }
            sent += UInt64(got)
            return got
        }
        part.copyBytes(from: bytes[Int(sent)..<Int(sent) + wanted])
        sent += UInt64(wanted)
        return wanted
    }

    func seek(to offset: UInt64) {
        let target = min(offset, count)
        file?.seek(by: target, from: sent)
        sent = target
    }
}

/// A file that receives the body of a successful answer.
///
/// Owned by the transfer thread.
final class IncomingFile {
    /// Bytes in the file when the attempt began.
    let held: UInt64
    private let sink: TransferSink
    private let file: TransferFile
    private var isPlaced = false

    init(_ sink: TransferSink) throws(TransferError) {
        self.sink = sink
        file = try TransferFile(appending: sink.path)
        held = file.size
    }

    var failure: TransferError? { file.failure }

    /// Writes bytes of a 200 (`isPart` false) or 206 answer.
    ///
    /// Returning false ends the transfer.
    func write(
        _ bytes: UnsafeRawBufferPointer, isPart: Bool, from start: UInt64?, isTooLarge: inout Bool
    ) -> Bool {
        if !isPlaced {
            isPlaced = true
            // A whole body starts the file over. A part that does not continue the file is refused.
            if !isPart || start != held {
                guard file.startOver(), !isPart else { return false }
            }
        }
        guard UInt64(bytes.count) <= sink.maxBytes, file.position <= sink.maxBytes - UInt64(bytes.count) else {
            isTooLarge = true
            return false
        }
        return file.write(bytes)
    }
}
