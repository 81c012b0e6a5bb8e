import CCurl

/// A reusable curl easy handle with the buffers of its current transfer.
///
/// Owned by the transfer thread. curl's callbacks get a pointer to this object, so it has to outlive every transfer;
/// ``TransferLoop`` keeps it.
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    var job: TransferJob?
    private(set) var body: [UInt8] = []
    private(set) var headers = ResponseHeaders()
    private(set) var isTooLarge = false
    /// Why the answer to a range request is not the requested part.
    private(set) var rangeFailure: TransferError?
    /// Body bytes received so far, wherever they are stored.
    private(set) var received = 0
    /// The body to send.
    var outgoing: OutgoingBody?
    /// The destination of a successful answer's body instead of memory.
    var file: IncomingFile?
    /// Whether the request's receiver has the head of this answer.
    private var hasReceiverBegun = false
    /// Whether anything but a plain GET was set on the handle.
    var hasOptions = false
    let limit: Int
    private let budget: OriginBudget?
    /// The speed limit last set by ``pace(_:)``.
    private var speed: curl_off_t = 0
    /// Largest size of one answer's headers, including informational answers; libcurl keeps all of them.
    ///
    /// Bytes.
    private static let maxHeaderBytes = 256 << 10
    private var headerBytes = 0
    private var ownLines: HeaderLines?

    init?(options: TransferOptions) {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        limit = options.maxBodyBytes
        budget = options.budget
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = ph_easy_set_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = ph_easy_set_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = ph_easy_set_data(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let easy = EasyHandle.from(context) else { return 0 }
            return easy.receive(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
        }
        _ = ph_easy_set_data(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let easy = EasyHandle.from(context) else { return 0 }
            return easy.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
        }
        _ = ph_easy_set_long(handle, CURLOPT_NOSIGNAL, 1)
        // libcurl reads 16 KiB at a time by default. Reading a tile at once saves one to three system calls.
        _ = ph_easy_set_long(handle, CURLOPT_BUFFERSIZE, 64 << 10)
        // Closing must not wait for a resolver that hangs: its thread is detached and ends by itself.
        _ = ph_easy_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        _ = ph_easy_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        _ = ph_easy_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        _ = ph_easy_set_text(handle, CURLOPT_USERAGENT, options.userAgent)
        _ = ph_easy_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.wholeMilliseconds)
        _ = ph_easy_set_long(handle, CURLOPT_TIMEOUT_MS, options.totalTimeout.wholeMilliseconds)
        _ = ph_easy_set_long(handle, CURLOPT_LOW_SPEED_LIMIT, 100)
        _ = ph_easy_set_long(handle, CURLOPT_LOW_SPEED_TIME, max(1, options.stallTimeout.wholeMilliseconds / 1_000))
        // A body whose announced length exceeds the limit is refused before its first byte.
        _ = ph_easy_set_offset(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(options.maxBodyBytes))
        _ = ph_easy_set_long(handle, CURLOPT_PIPEWAIT, options.http2 ? 1 : 0)
        let version = options.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        _ = ph_easy_set_long(handle, CURLOPT_HTTP_VERSION, Int(version))
        if let file = options.certificateFile { _ = ph_easy_set_text(handle, CURLOPT_CAINFO, file) }
    }

    deinit { curl_easy_cleanup(handle) }

    /// Prepares the handle for a job's current URL; `shared` are the header lines of every request to this host.
    ///
    /// - Throws: `disk-full` or `file-failed` when the request's file cannot be opened.
    func prepare(_ job: TransferJob, shared: HeaderLines) throws(TransferError) {
        self.job = job
        body = []
        headers = ResponseHeaders()
        isTooLarge = false
        rangeFailure = nil
        headerBytes = 0
        received = 0
        hasReceiverBegun = false
        // Every header of a signed request is part of the signature, so a proxy must not change any of them.
        let isSigned = job.request.signing != nil
        var fields = isSigned ? job.extraHeaders : shared.fields + job.extraHeaders
        let isUncoded = job.request.range != nil || job.request.receiver != nil
        if isUncoded, !isSigned {
            // Byte positions in a compressed file are different.
            fields.removeAll { $0.name == "Accept-Encoding" }
            fields.append(HeaderField("Accept-Encoding", "identity"))
        }
        // libcurl waits up to a second for "100 Continue", which many servers never send. A small body needs no permission.
        // (curl_easy_setopt(3), CURLOPT_EXPECT_100_TIMEOUT_MS)
        let isSmall = if case .bytes(let bytes)? = job.request.upload { bytes.count <= 1 << 20 } else { false }
        let isOwn = isSigned || !job.extraHeaders.isEmpty || isUncoded || isSmall
        ownLines = isOwn ? HeaderLines(fields, without: isSmall && !isSigned ? ["Expect"] : []) : nil
        _ = ph_easy_set_list(handle, CURLOPT_HTTPHEADER, (ownLines ?? shared).list)
        _ = ph_easy_set_text(handle, CURLOPT_URL, job.url)
        try applyOptions(job.request)
    }

    /// Releases the data of the last transfer.
    func reset() {
        job = nil
        body = []
        outgoing = nil
        file = nil
    }

    /// The failure of the request's own file, if that ended the transfer.
    var fileFailure: TransferError? { file?.failure ?? outgoing?.failure }

    /// Returns the received body and removes it from the handle.
    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
        context.map { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maxHeaderBytes else {
            isTooLarge = true
            return false
        }
        headers.add(line: line)
        return true
    }

    /// Whether the answer may be the requested part.
    ///
    /// Answers other than 200 and 206 are left to the caller.
    private func isPart(of range: Range<UInt64>) -> Bool {
        var status = 0
        _ = ph_easy_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        guard status == 200 || status == 206, let job else { return true }
        let host = WebOrigin(job.url)?.authority ?? "?"
        if status == 200 {
            rangeFailure = TransferError(wholeFileFrom: job.url, headers)
        } else if headers.rangeStart != job.held.start(of: range) || !job.held.fits(headers) {
            rangeFailure = TransferError(
                .wrongRange, "\(host): the server answered with another part", isRetriable: true)
        }
        return rangeFailure == nil
    }

    /// Sets the speed limit of the transfer in bytes per second, at most that of its request; `nil` = no limit.
    func pace(_ bytesPerSecond: Double?) {
        let limit =
            [bytesPerSecond, job?.request.bytesPerSecond].compactMap { $0 }.min().map {
                curl_off_t(max(1, min($0, 1e15)))
            } ?? 0
        guard limit != speed else { return }
        speed = limit
        _ = ph_easy_set_offset(handle, CURLOPT_MAX_RECV_SPEED_LARGE, limit)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        budget?.received(bytes.count)
        if let file {
            var status = 0
            _ = ph_easy_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
            if status == 200 || status == 206 {
                return file.write(bytes, isPart: status == 206, from: headers.rangeStart, isTooLarge: &isTooLarge)
            }
        }
        if let receiver = job?.request.receiver { return deliver(bytes, to: receiver) }
        guard bytes.count <= limit - body.count else {
            isTooLarge = true
            return false
        }
        if body.isEmpty {
            if let range = job?.request.range, !isPart(of: range) { return false }
            var announced: curl_off_t = -1
            _ = ph_easy_get_offset(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced)
            if announced > 0 { body.reserveCapacity(Int(min(announced, curl_off_t(limit)))) }
        }
        body.append(contentsOf: bytes)
        return true
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, to receiver: any TransferReceiver) -> Bool {
        if !hasReceiverBegun {
            hasReceiverBegun = true
            var status = 0
            _ = ph_easy_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
            guard receiver.begin(status: status, headers: headers) else { return false }
        }
        return receiver.receive(bytes)
    }
}

/// A list of header lines in curl's form.
///
/// It must exist as long as a handle may use it.
final class HeaderLines {
    let fields: [HeaderField]
    let list: UnsafeMutablePointer<curl_slist>?

    /// - Parameter names: Headers that libcurl adds itself and that are not sent.
    init(_ fields: [HeaderField], without names: [String] = []) {
        self.fields = fields
        var list: UnsafeMutablePointer<curl_slist>?
        for field in fields {
            // "Name;" is curl's syntax for a header without a value.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            if let longer = curl_slist_append(list, line) { list = longer }
        }
        for name in names {
            if let longer = curl_slist_append(list, "\(name):") { list = longer }
        }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }
}

extension Duration {
    /// Milliseconds, rounded up, at least 1, at most a day.
    var wholeMilliseconds: Int {
        let milliseconds = self / .milliseconds(1)
        return Int(min(max(milliseconds.rounded(.up), 1), 86_400_000))
    }
}
