import Scheduling
import Tiles

/// Who lives in the world, and what they do when nothing is wrong.
extension Simulation {
    /// The formats that packages may get in addition to their own.
    static let formats = ["flat", "pmtiles"]
    /// The label that some workers have.
    static let label = "big"

    mutating func populate(_ random: inout SeededRandom) {
        for _ in 0..<(2 + random.below(5)) { addWorker(&random) }
        let base = (x: 100 + random.below(1_000), y: 100 + random.below(1_000))
        for index in 0..<(1 + random.below(3)) {
            let steps = random.perMille(swarm.orders) ? SimClient.whims(&random) : []
            addClient(
                randomSpec(index, base, &random), at: Int64(index) * random.below(Int64(40_000)), steps: steps,
                follows: random.perMille(swarm.follows))
        }
        addRebuilds()
    }

    /// In worlds with baselines, some jobs are asked for again later, when they are likely to be done.
    private mutating func addRebuilds() {
        guard policy.baselineBytes > 0 else { return }
        // A choice of its own, so that worlds without rebuilds stay as they are.
        var random = SeededRandom(state: seed &* 48_271 &+ 11)
        for index in specs.indices where random.perMille(700) {
            let time = 60_000 + random.below(Int64(150_000))
            clients.append(SimClient(spec: index, submitAt: time, steps: [], follows: false))
            schedule(.client(clients.count - 1), at: time)
        }
    }

    mutating func addWorker(_ random: inout SeededRandom, steps set: ClosedRange<Int64>? = nil) {
        let isSlow = swarm.slowNodes > 0 && random.perMille(swarm.slowNodes)
        if isSlow { marks.hit(.workerSlow) }
        let shortest = 20 + random.below(Int64(400))
        let steps = set ?? (isSlow ? shortest * 20...shortest * 40 : shortest...shortest * 4)
        let clock = SimClock(base: random.below(Int64(10_000_000)), since: 0, drift: driftOfANode())
        nodes.append(SimNode(worker: nil, clock: clock, downUntil: random.below(Int64(5_000)), steps: steps))
        // One at least writes everything, or some packages would wait forever.
        let (isAble, isHalf) = (nodes.count == 1 || !random.perMille(swarm.oldBuilds), random.perMille(500))
        nodes[nodes.count - 1].exports = isAble ? Simulation.formats : isHalf ? [Simulation.formats[0]] : []
        // One at least has the label, in the seeds with jobs that need it: a merge goes to the worker that has the least.
        nodes[nodes.count - 1].labels = seed % 5 == 3 && nodes.count % 2 == 1 ? [Simulation.label] : []
        schedule(.wake(nodes.count - 1), at: nodes[nodes.count - 1].downUntil)
        nodes[nodes.count - 1].wakeAt = nodes[nodes.count - 1].downUntil
    }

    mutating func addClient(_ spec: SimSpec, at time: Int64, steps: [SimClient.Step] = [], follows: Bool = false) {
        specs.append(spec)
        clients.append(SimClient(spec: specs.count - 1, submitAt: time, steps: steps, follows: follows))
        schedule(.client(clients.count - 1), at: time)
    }

    mutating func driftOfANode() -> Int64 {
        swarm.drift == 0 ? 0 : faultRandom.below(2 * swarm.drift + 1) - swarm.drift
    }

    /// One to three packages over rectangles that overlap each other and those of other jobs.
    private func randomSpec(_ index: Int, _ base: (x: Int, y: Int), _ random: inout SeededRandom) -> SimSpec {
        let low = 9 + random.below(3)
        let masks = (0..<(1 + random.below(3))).map { _ in
            SimSpec.rectangle(
                base.x + random.below(12), base.y + random.below(12), 2 + random.below(20), 2 + random.below(16))
        }
        let zooms = ZoomRange(min: low, max: 12) ?? .all
        let formats = masks.map { _ in
            random.perMille(swarm.formats) ? Simulation.formats.filter { _ in random.perMille(600) } : []
        }
        return SimSpec(
            index: index, zooms: zooms, masks: masks, allowedMissing: random.perMille(800) ? 1 : 0,
            priority: Int32(random.below(2)), weight: UInt32(1 + random.below(3)),
            tileset: random.perMille(800) ? 1 : 2, formats: formats,
            // Not drawn, so that the other seeds stay what they were.
            isPlanned: seed % 5 == 4 && index % 2 == 0,
            labels: seed % 5 == 3 && index % 2 == 0 ? [Simulation.label] : [])
    }

    // MARK: - Workers

    mutating func wake(_ index: Int) {
        guard nodes[index].wakeAt <= now else { return }
        nodes[index].wakeAt = .max
        defer { wakeInTime(index) }
        guard nodes[index].pausedUntil <= now else { return }
        guard nodes[index].worker != nil else {
            if nodes[index].downUntil <= now { startWorker(index) }
            return
        }
        let local = nodes[index].clock.local(now)
        for token in nodes[index].worker?.leases.map(\.offer.token) ?? [] {
            guard let place = nodes[index].worker?.leases.firstIndex(where: { $0.offer.token == token }),
                case .running(let task)? = nodes[index].worker?.leases[place].state, task.at <= now,
                let outcome = step(index, place)
            else { continue }
            if case .done(let result) = outcome { checker.made(result, under: token) }
            carryOut(nodes[index].worker?.finish(token, outcome, now: local) ?? [], by: index)
        }
        // In some seeds machines are now and then at their limits.
        let isLimited = !isHealed && seed % 5 == 3 && (now / 20_000 + Int64(index)) % 4 == 0
        carryOut(nodes[index].worker?.limit(isLimited, now: local) ?? [], by: index)
        if let due = nodes[index].worker?.nextTick, due <= local {
            carryOut(nodes[index].worker?.tick(now: local) ?? [], by: index)
        }
    }

    private mutating func startWorker(_ index: Int) {
        nodes[index].worker = SimWorker(
            index: index, session: SessionID(sessionRandom.next() | 1), heartbeat: policy.heartbeat,
            exports: nodes[index].exports, labels: nodes[index].labels, now: nodes[index].clock.local(now))
        say("w\(index) starts as \(nodes[index].worker?.session ?? 0)")
    }

    private mutating func wakeInTime(_ index: Int) {
        let due = max(nodes[index].due, nodes[index].pausedUntil, now + 20)
        guard due < nodes[index].wakeAt else { return }
        nodes[index].wakeAt = due
        schedule(.wake(index), at: due)
    }

    mutating func carryOut(_ actions: [SimWorker.Action], by index: Int) {
        for action in actions {
            switch action {
            case .say(let event):
                if recording != nil { say("w\(index) says \(event.brief)") }
                if case .commit(_, let token, _) = event, !checker.committed.insert(token).inserted {
                    marks.hit(.commitResent)
                }
                if case .giveBack = event { marks.hit(.leaseReturned) }
                post(.toCoordinator(.work(event, from: index)), worker: index)
            case .run(let token):
                guard let place = nodes[index].worker?.leases.firstIndex(where: { $0.offer.token == token }),
                    case .running(var task)? = nodes[index].worker?.leases[place].state
                else { continue }
                task.at = now + nodes[index].pace(&workRandom)
                nodes[index].worker?.leases[place].state = .running(task)
            case .end:
                nodes[index].worker = nil
                nodes[index].downUntil = now + faultRandom.below(Int64(20_000))
            }
        }
    }

    mutating func deliver(_ message: Outgoing, to index: Int, _ session: SessionID) {
        guard let worker = nodes[index].worker, worker.session == session else { return }
        guard nodes[index].pausedUntil <= now else {
            return schedule(.toWorker(index, session, message), at: nodes[index].pausedUntil)
        }
        if recording != nil { say("w\(index) hears \(message.brief)") }
        if case .offer(let offer) = message {
            if offer.token <= worker.lastToken {
                marks.hit(.oldOfferRefused)
            } else {
                checker.took(offer.token, session)
            }
        }
        if case .ack(let token, let digest) = message, worker.leases.contains(where: { $0.offer.token == token }) {
            checkAcknowledged(token, digest)
        }
        let local = nodes[index].clock.local(now)
        carryOut(nodes[index].worker?.receive(message, now: local) ?? [], by: index)
        wakeInTime(index)
    }

    // MARK: - Clients

    mutating func ask(_ index: Int) {
        let client = clients[index]
        guard !client.isContent else { return }
        if let job = client.job {
            guard client.dueAt <= now else { return }
            post(.toCoordinator(.order(job, client: index, step: client.done)), worker: nil)
        } else if !client.follows || index == 0 || clients[index - 1].job != nil || clients[index - 1].isRefused {
            post(.toCoordinator(.submit(client: index)), worker: nil)
        }
        schedule(.client(index), at: now + 15_000)
    }

    mutating func deliver(_ reply: SimCoordinator.Reply) {
        switch reply {
        case .submitted(let job, let index):
            if let known = clients[index].job, known != job, swarm.keptJobs > 1 {
                problem("I5: request of client \(index) made jobs \(known) and \(job)")
            }
            guard clients[index].job == nil else { return }
            clients[index].job = job
            if specIndex(of: job) != clients[index].spec, !checker.forgotten.contains(job) {
                problem("I8: acknowledged job \(job) is not in the store")
            }
            letThink(index)
        case .refused(let index): if clients[index].job == nil { clients[index].isRefused = true }
        case .ordered(let index, let step):
            guard clients[index].done == step else { return }
            clients[index].done += 1
            letThink(index)
        }
    }

    /// Lets a client think before its next order.
    private mutating func letThink(_ index: Int) {
        guard clients[index].done < clients[index].steps.count else { return }
        clients[index].dueAt = now + SimClient.gap + clients[index].steps[clients[index].done].after
        schedule(.client(index), at: clients[index].dueAt)
    }
}

extension SimSpec {
    /// Every tile down to z12 that touches a rectangle of z12 tiles.
    static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> TileMask {
        TileMask(
            tiles: (0..<width).flatMap { column in
                (0..<height).compactMap { TileID(zoom: 12, x: x + column, y: y + $0) }
            }, maxZoom: 12)
    }
}
