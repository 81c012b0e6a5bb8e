import Scheduling

extension EpochWorld {
    /// A step of a coordinator.
    mutating func turn(_ index: Int) {
        guard !peers[index].hasEnded, peers[index].pausedUntil <= now else { return }
        if peers[index].change?.isCertain == true { write(by: index) }
        let slept = now - peers[index].lastTurn
        peers[index].lastTurn = now
        if slept > 6_000 {
            peers[index].tenure.stoodStill()
            peers[index].quietUntil = now + 3_000
            // A new question; an answer to one of before does not count.
            peers[index].question = nil
            peers[index].nextQuestion = now
        }
        ask(index)
        if peers[index].tenure.isReplaced {
            peers[index].hasEnded = true
            peers[index].change = nil
            return
        }
        change(index)
        if peers[index].nextRemoval <= now { remove(by: index) }
    }

    // MARK: - The place

    private mutating func ask(_ index: Int) {
        if let question = peers[index].question {
            if question.sees == nil, question.read <= now {
                peers[index].question?.sees = index == 0 && claimed <= question.read
            }
            guard question.arrives <= now, let sees = peers[index].question?.sees else { return }
            peers[index].question = nil
            peers[index].quietUntil = 0
            if sees { return peers[index].tenure.replaced() }
            return peers[index].tenure.confirmed(asked: Tick(milliseconds: question.asked))
        }
        guard peers[index].nextQuestion <= now else { return }
        peers[index].nextQuestion = now + Tenure.question
        guard peers[index].cutUntil <= now else { return }
        let read = now + random.below(Int64(2_000))
        peers[index].question = Question(asked: now, read: read, arrives: read + random.below(Int64(2_000)), sees: nil)
    }

    private func mayGrant(_ index: Int) -> Bool {
        if mutant == .grantsWithoutAnswer, index == 0 { return !peers[index].tenure.isReplaced }
        return peers[index].tenure.mayGrant(Tick(milliseconds: now))
    }

    // MARK: - What is shared

    /// Begins a change of the catalog, or ends the one that was begun.
    private mutating func change(_ index: Int) {
        guard let change = peers[index].change else {
            guard peers[index].nextChange <= now else { return }
            peers[index].nextChange = now + 1_000 + random.below(Int64(4_000))
            let mayChange = peers[index].tenure.mayChange(Tick(milliseconds: now), within: Self.trust)
            guard mayChange || mutant == .oldPublishes, mayRead(index) else { return }
            peers[index].change = Change(ends: now + random.below(Int64(3_000)), checked: now)
            return
        }
        guard change.ends <= now else { return }
        guard mayRead(index) else {
            peers[index].change = nil
            return
        }
        peers[index].change?.checked = now
        // The process may be frozen between its last look and its write.
        peers[index].change?.isCertain = true
        if random.perMille(50) { peers[index].pausedUntil = now + random.below(Int64(20_000)) }
        if peers[index].pausedUntil <= now { write(by: index) }
    }

    /// Whether the claim in the catalog permits a change; where it does not, the coordinator knows that it was replaced.
    private mutating func mayRead(_ index: Int) -> Bool {
        guard index == 0, announced <= now, mutant != .oldPublishes else { return true }
        refusals += 1
        peers[index].tenure.replaced()
        return false
    }

    private mutating func write(by index: Int) {
        guard let change = peers[index].change else { return }
        peers[index].change = nil
        guard index == 0, announced <= now else { return }
        lateWrites += 1
        if hasLocks { problem("I17: the old coordinator publishes behind the lock of its successor") }
        if change.checked >= announced { problem("I17: the old coordinator publishes and knows better") }
    }

    private mutating func remove(by index: Int) {
        peers[index].nextRemoval = now + 700
        let mayChange = peers[index].tenure.mayChange(Tick(milliseconds: now), within: Self.trust)
        guard mayChange || mutant == .oldRemoves else { return }
        guard index == 0, claimed <= now - Self.trust else { return }
        problem("I17: the old coordinator removes a blob")
    }

    // MARK: - Workers

    /// A step of a worker: it reports, and looks for a coordinator of a higher epoch.
    mutating func work(_ index: Int) {
        let isLost = now - workers[index].heard > 12_000
        if workers[index].nextSurvey <= now || isLost { survey(index, isLost) }
        guard workers[index].nextReport <= now else { return }
        workers[index].nextReport = now + 2_000
        let peer = workers[index].at
        guard peers.indices.contains(peer), reaches(peer), peers[peer].quietUntil <= now else { return }
        // A frozen coordinator answers when it wakes.
        let at = max(now, peers[peer].pausedUntil) + random.below(Int64(1_500))
        let hasGrant = peers[peer].pausedUntil <= now && mayGrant(peer)
        if peer == 1, hasGrant { grantsOfSuccessor += 1 }
        mail.append(Mail(at: at, worker: index, from: peers[peer].epoch, asked: now, hasGrant: hasGrant))
    }

    private func reaches(_ peer: Int) -> Bool { !peers[peer].hasEnded && peers[peer].mutedUntil <= now }

    private mutating func survey(_ index: Int, _ isLost: Bool) {
        workers[index].nextSurvey = now + (isLost ? 2_000 : 20_000 + random.below(Int64(20_000)))
        let found = peers.indices.filter {
            reaches($0) && peers[$0].pausedUntil <= now && peers[$0].epoch >= workers[index].obeyed.highest
        }
        guard let best = found.max(), best != workers[index].at, isLost || best > workers[index].at else { return }
        workers[index].at = best
        workers[index].nextReport = now
    }

    mutating func hear(_ letter: Mail) {
        let before = workers[letter.worker].obeyed.highest
        let isObeyed = workers[letter.worker].obeyed.obeys(letter.from) || mutant == .workerObeysLowerEpoch
        guard isObeyed else { return }
        if letter.from < before {
            problem("I17: a worker that has heard epoch \(before) obeys epoch \(letter.from)")
        }
        workers[letter.worker].heard = now
        guard letter.hasGrant else { return }
        // It counts from the report that it answers.
        workers[letter.worker].grant = Grant(epoch: letter.from, ends: letter.asked + RatePolicy().ttl)
    }

    mutating func checkGrants() {
        let epochs = Set(workers.compactMap(\.grant).filter { $0.ends > now }.map(\.epoch))
        if epochs.count > 1 { problem("I6: workers hold grants of epochs \(epochs.sorted())") }
    }
}
