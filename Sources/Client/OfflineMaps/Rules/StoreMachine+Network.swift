/// Whether there is a connection.
extension StoreMachine {
    /// There is no connection: nothing is counted, and one request after a while finds out.
    mutating func lost(_ task: TaskID) {
        if isOnline {
            isOnline = false
            probes = 0
            then(.report(.connectionLost))
        }
        probeAt = now + random.backoff(tries: probes)
        probes += 1
        if rows.tasks[task]?.kind == .list || rows.tasks[task]?.rule.failsWithoutNetwork == true {
            fail(task, .connection)
        }
    }

    /// A server has answered.
    mutating func found() {
        guard !isOnline else { return }
        isOnline = true
        backoffs = [:]
        then(.report(.connectionFound))
    }

    mutating func setNetwork(_ state: NetworkState, forced: Bool) {
        let had = hasNetwork
        network = state
        isForcedOffline = forced
        let has = hasNetwork
        guard had != has else { return }
        if has {
            backoffs = [:]
            found()
        } else if isOnline {
            isOnline = false
            probeAt = now
            then(.report(.connectionLost))
        }
    }
}
