import CCurl
import Glibc

/// The state and the loop of the transfer thread.
///
/// Created and destroyed on that thread.
final class TransferEngine {
    private let loop: TransferLoop
    private let options: TransferOptions
    private let concurrency: Int
    private let defaultHeaders: HeaderLines
    private let crossOriginHeaders: HeaderLines
    private var queue = TransferQueue()
    /// Whether the origin failed at the last request.
    private var hasFailed = false
    private var limiter: RateLimiter?
    let budget: OriginBudget?
    private var pausedUntil: ContinuousClock.Instant?
    private var opened: UInt64 = 0
    private var active: [UnsafeMutableRawPointer: EasyHandle] = [:]
    private var idle: [EasyHandle] = []
    private var downloads: [ObjectIdentifier: (download: Download, jobs: Int)] = [:]
    private var finished: [ObjectIdentifier: [TransferResult]] = [:]
    private var generator = SystemRandomNumberGenerator()
    /// Whether requests in flight have a speed limit.
    private var isPaced = false
    private var knownBeginning: [UInt8]?

    init(loop: TransferLoop, options: TransferOptions) {
        self.loop = loop
        self.options = options
        concurrency = min(max(options.concurrency, 1), 256)
        // Requested explicitly and never decoded by curl: a gzip body stays byte for byte as the server stores it.
        let coding = HeaderField("Accept-Encoding", options.acceptsGzip ? "gzip" : "identity")
        defaultHeaders = HeaderLines([coding] + options.headers)
        crossOriginHeaders = HeaderLines([coding])
        budget = options.budget
        limiter = budget == nil ? options.requestsPerSecond.map(RateLimiter.init(perSecond:)) : nil
        for option in [CURLMOPT_MAX_TOTAL_CONNECTIONS, CURLMOPT_MAX_HOST_CONNECTIONS, CURLMOPT_MAXCONNECTS] {
            _ = ph_multi_set_long(loop.multi, option, concurrency)
        }
        _ = ph_multi_set_long(loop.multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    /// Runs until the client is closed.
    ///
    /// Then cancels all requests and frees the multi handle.
    func run() {
        budget?.attach(loop) { [loop] in loop.wake() }
        while true {
            let mail = loop.collectMail()
            accept(mail.jobs)
            if mail.isClosed { break }
            if mail.hasCancellations { removeCancelled() }
            cancelExcess()
            endPause()
            _ = startDue()
            pace()
            var running: Int32 = 0
            curl_multi_perform(loop.multi, &running)
            collect()
            deliver()
            let start = startDue()
            // After a handle was added, a perform is needed before the poll can see its socket.
            if start.didStart { continue }
            let flushDelay = downloads.values.compactMap { $0.download.flush(at: .now) }.min()
            let end = budget?.nextEnd(at: .now)
            // Another client of the budget may use part of the bytes meanwhile.
            let turn: Duration = isPaced ? .milliseconds(200) : .seconds(10)
            let wait = min(turn, start.wait ?? .seconds(10), flushDelay ?? .seconds(10), end ?? .seconds(10))
            curl_multi_poll(loop.multi, nil, 0, Int32(wait.wholeMilliseconds), nil)
        }
        end { _ in true }
        budget?.detach(loop)
        deliver()
        idle = []
        loop.finish()
        curl_multi_cleanup(loop.multi)
    }

    /// Divides the bytes per second among the requests in flight.
    private func pace() {
        guard let budget, !active.isEmpty else { return }
        let pace = budget.pace
        guard isPaced || pace != nil else { return }
        isPaced = pace != nil
        for easy in active.values { easy.pace(pace) }
    }

    private func accept(_ jobs: [TransferJob]) {
        for job in jobs {
            downloads[ObjectIdentifier(job.download), default: (job.download, 0)].jobs += 1
            let own = job.request.headers
            if !isWeb(job.url) {
                finish(job, .failure(TransferError(.invalidRequest, "the URL is not an http or https URL")))
            } else if job.request.signing?.isUsable == false {
                finish(
                    job,
                    .failure(
                        TransferError(.invalidRequest, "the region, service or keys cannot be used for a signature")))
            } else if job.request.range?.isEmpty == true {
                finish(job, .failure(TransferError(.invalidRequest, "the requested part is empty")))
            } else if !own.allSatisfy(\.isSendable) {
                finish(
                    job, .failure(TransferError(.invalidRequest, "a header contains characters that cannot be sent")))
            } else if job.download.isCancelled {
                finish(job, .failure(TransferLoop.closedError))
            } else {
                queue.append([job])
            }
        }
    }

    /// Whether a URL is an http or https URL.
    ///
    /// The URLs of one tileset differ only in their ends, so the beginning is checked once.
    private func isWeb(_ url: String) -> Bool {
        if let knownBeginning, url.utf8.starts(with: knownBeginning) { return true }
        guard WebOrigin(url) != nil else { return false }
        // Up to the third slash: scheme, host and port.
        let slashes = url.utf8.indices.filter { url.utf8[$0] == UInt8(ascii: "/") }
        knownBeginning = slashes.count > 2 ? Array(url.utf8[...slashes[2]]) : nil
        return true
    }

    /// Starts the requests that may start.
    ///
    /// - Returns: Whether any request started, and how long until the next start is possible without another event.
    private func startDue() -> (didStart: Bool, wait: Duration?) {
        var didStart = false
        var isRefused = false
        defer { budget?.setWaiting(isRefused ? queue.count : 0, of: loop) }
        while active.count < concurrency {
            let now = ContinuousClock.now
            guard let start = queue.nextStart(at: now) else { return (didStart, nil) }
            if let pausedUntil, pausedUntil > now {
                isRefused = true
                return (didStart, pausedUntil - now)
            }
            guard start <= now else { return (didStart, start - now) }
            if let wait = limiter?.takePermit(at: now) { return (didStart, wait) }
            if let wait = budget?.takePermit(at: now) {
                isRefused = true
                return (didStart, wait)
            }
            // After a failure a new request tells more than a failed one: whether the origin is down or one tile is the
            // cause.
            guard let job = queue.pop(at: now, newFirst: hasFailed) else { break }
            begin(job, at: now)
            didStart = true
        }
        return (didStart, nil)
    }

    private func begin(_ job: TransferJob, at now: ContinuousClock.Instant) {
        var job = job
        job.begun = now
        job.idle.begin(budget?.use)
        guard let easy = idle.popLast() ?? EasyHandle(options: options) else {
            budget?.endRequest(.none)
            finish(job, .failure(TransferError(.library, "libcurl could not allocate a handle: out of memory")))
            return
        }
        do throws(TransferError) {
            try easy.prepare(job, shared: job.isCrossOrigin ? crossOriginHeaders : defaultHeaders)
        } catch {
            easy.reset()
            idle.append(easy)
            budget?.endRequest(.none)
            finish(job, .failure(error))
            return
        }
        let code = curl_multi_add_handle(loop.multi, easy.handle)
        guard code == CURLM_OK else {
            budget?.endRequest(.none)
            finish(job, .failure(TransferError(.library, String(cString: curl_multi_strerror(code)))))
            return
        }
        active[easy.handle] = easy
        easy.pace(budget?.pace)
    }

    private func collect() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(loop.multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                let easy = active.removeValue(forKey: handle)
            else { continue }
            // Everything is read before the handle is removed, because that frees the message.
            let code = ph_message_result(message)
            var status = 0
            _ = ph_easy_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
            var target: UnsafePointer<CChar>?
            _ = ph_easy_get_text(handle, CURLINFO_REDIRECT_URL, &target)
            let redirect = target.map { String(cString: $0) }
            curl_multi_remove_handle(loop.multi, handle)
            guard var job = easy.job else {
                budget?.endRequest(.none)
                continue
            }
            easy.job = nil
            job.received += easy.received
            if code == CURLE_OK {
                answered(job, easy, status: status, redirect: redirect)
            } else {
                var firstByte: curl_off_t = 0
                ph_easy_get_offset(handle, CURLINFO_STARTTRANSFER_TIME_T, &firstByte)
                let error = TransferError(
                    curl: code, isTooLarge: easy.isTooLarge, hasBegun: firstByte > 0, url: job.url)
                if let range = job.request.range {
                    if status == 206, easy.rangeFailure == nil {
                        job.held.append(easy.takeBody(), easy.headers, of: range)
                    } else if easy.rangeFailure?.code == .wrongRange {
                        job.held.forget()
                    }
                }
                failed(
                    job,
                    easy.fileFailure ?? easy.rangeFailure ?? rangeError(job, easy, status: status, otherwise: error))
            }
            easy.reset()
            idle.append(easy)
        }
    }

    private func answered(_ job: TransferJob, _ easy: EasyHandle, status: Int, redirect: String?) {
        var job = job
        if let begun = job.begun, let onAnswer = options.onAnswer { onAnswer(ContinuousClock.now - begun) }
        let after =
            RetryPolicy.isRetriable(status: status)
            ? RetryPolicy.retryAfter(easy.headers.retryAfter, serverDate: easy.headers.date, now: Int64(time(nil)))
            : nil
        if let budget {
            let reception = OriginBudget.Reception(status: status, retryAfter: after)
            endRequest(job.idle.evidence(of: reception, hadAnswer: true), budget, begun: job.begun)
            if let wait = job.idleWait(
                after: reception, hadAnswer: true, budget: budget, policy: options.retry, using: &generator)
            {
                pause(after, status)
                job.startAgain(counts: false)
                queue.append(job, due: .now + wait)
                return
            }
        }
        if (300..<400).contains(status), status != 304, job.request.followsRedirects, let redirect {
            if let refusal = refusal(of: redirect, for: job) {
                finish(job, .failure(refusal))
            } else {
                job.follow(redirect)
                queue.append(job, due: .now)
            }
            return
        }
        if RetryPolicy.isRetriable(status: status) {
            if let wait = options.retry.wait(afterAttempt: job.attempt, retryAfter: after, using: &generator) {
                pause(after, status)
                job.startAgain()
                queue.append(job, due: .now + wait)
                return
            }
        }
        finish(
            job,
            .success(
                TransferResponse(
                    status: status,
                    body: job.held.bytes.isEmpty || status != 206 ? easy.takeBody() : job.held.bytes + easy.takeBody(),
                    headers: easy.headers, attempts: job.attempt,
                    received: job.received, url: job.url)))
    }

    /// The error for a whole file that was refused by its announced length.
    private func rangeError(
        _ job: TransferJob, _ easy: EasyHandle, status: Int, otherwise error: TransferError
    ) -> TransferError {
        guard job.request.range != nil, status == 200, error.code == .tooLarge else { return error }
        return TransferError(wholeFileFrom: job.url, easy.headers)
    }

    /// Reports to the budget what an ended attempt means for the origin.
    private func endRequest(
        _ reception: OriginBudget.Reception, _ budget: OriginBudget, begun: ContinuousClock.Instant? = nil
    ) {
        budget.endRequest(reception, begun: begun)
        switch reception {
        case .failed, .busy: hasFailed = true
        case .answered, .throttled: hasFailed = false
        case .none: break
        }
    }

    /// "Too many requests" concerns all of our requests, not only one.
    private func pause(_ retryAfter: Duration?, _ status: Int) {
        guard let retryAfter, status == 429 || status == 503 else { return }
        let end = ContinuousClock.now + min(retryAfter, options.retry.retryAfterCap)
        pausedUntil = max(pausedUntil ?? end, end)
    }

    /// Ends the pause of a Retry-After when an operator has removed the block.
    private func endPause() {
        guard let latest = budget?.opened, latest != opened else { return }
        // A new coordinator starts counting from the beginning.
        if latest > opened {
            pausedUntil = nil
            queue.hurry(to: .now)
        }
        opened = latest
    }

    private func refusal(of target: String, for job: TransferJob) -> TransferError? {
        if job.redirects >= options.maxRedirects {
            return TransferError(.tooManyRedirects, "more than \(options.maxRedirects) redirects")
        }
        if WebOrigin(target) == nil {
            return TransferError(.redirectRefused, "a redirect leads away from http and https")
        }
        let refusal =
            options.redirectRefusal(target) ?? job.request.receiver?.refusal(of: target, from: job.url)
        return refusal.map { TransferError(.redirectRefused, $0) }
    }

    private func failed(_ job: TransferJob, _ error: TransferError) {
        var job = job
        if let budget {
            let hadAnswer = error.code != .connectFailed && error.code != .resolveFailed
            endRequest(job.idle.evidence(of: error.isOfOrigin ? .failed : .answered, hadAnswer: hadAnswer), budget)
            if error.isOfOrigin,
                let wait = job.idleWait(
                    after: .failed, hadAnswer: hadAnswer, budget: budget, policy: options.retry, using: &generator)
            {
                job.startAgain(counts: false)
                queue.append(job, due: .now + wait)
                return
            }
        }
        if error.isRetriable, let wait = options.retry.wait(afterAttempt: job.attempt, using: &generator) {
            job.startAgain()
            queue.append(job, due: .now + wait)
        } else {
            finish(job, .failure(error))
        }
    }

    private func finish(_ job: TransferJob, _ outcome: Result<TransferResponse, TransferError>) {
        let result = TransferResult(tag: job.request.tag, outcome: outcome, elapsed: .now - job.submitted)
        finished[ObjectIdentifier(job.download), default: []].append(result)
    }

    private func deliver() {
        for (id, results) in finished {
            guard var entry = downloads[id] else { continue }
            entry.jobs -= results.count
            downloads[id] = entry.jobs > 0 ? entry : nil
            entry.download.deliver(results)
        }
        finished.removeAll(keepingCapacity: true)
    }

    private func removeCancelled() {
        end { $0.download.isCancelled }
    }

    /// Cancels the requests that exceed the budget.
    ///
    /// They start again when the budget allows it.
    private func cancelExcess() {
        var excess = budget?.excess(at: .now) ?? 0
        while excess > 0, let (handle, easy) = active.first {
            curl_multi_remove_handle(loop.multi, handle)
            active[handle] = nil
            if let job = easy.job { queue.append(job, due: .now) }
            easy.job = nil
            _ = easy.takeBody()
            idle.append(easy)
            budget?.endRequest(.none)
            excess -= 1
        }
    }

    private func end(where isUnwanted: (TransferJob) -> Bool) {
        for job in queue.remove(where: isUnwanted) { finish(job, .failure(TransferLoop.closedError)) }
        for (handle, easy) in active {
            guard let job = easy.job, isUnwanted(job) else { continue }
            curl_multi_remove_handle(loop.multi, handle)
            active[handle] = nil
            easy.job = nil
            easy.reset()
            idle.append(easy)
            budget?.endRequest(.none)
            finish(job, .failure(TransferLoop.closedError))
        }
    }
}
