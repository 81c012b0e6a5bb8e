import Digests
import Scheduling

/// What goes wrong, twice a second, until the heal.
extension Simulation {
    static let beat: Int64 = 500

    mutating func strike() {
        schedule(.nemesis, at: now + Simulation.beat)
        for index in nodes.indices { strike(node: index) }
        strikeCoordinator()
        strikeStorage()
    }

    private mutating func rolls(_ share: Int64) -> Bool { share > 0 && faultRandom.perMille(share) }

    private mutating func strike(node index: Int) {
        if rolls(swarm.workerCrash) { crash(node: index, for: faultRandom.below(Int64(20_000))) }
        let local = nodes[index].clock.local(now)
        if rolls(swarm.drain), let actions = nodes[index].worker?.drain(now: local) {
            marks.hit(.workerDrained)
            say("w\(index) drains")
            carryOut(actions, by: index)
        }
        if rolls(swarm.pause) {
            marks.hit(.workerPaused)
            nodes[index].pausedUntil = now + faultRandom.below(faultRandom.perMille(200) ? 600_000 : 90_000)
            // A second pause may end before the first, whose deferred messages come at its own end.
            nodes[index].troubledAt = max(nodes[index].troubledAt, nodes[index].pausedUntil)
            say("w\(index) stands still until \(nodes[index].pausedUntil)")
        }
        if rolls(swarm.cut) { cut(node: index) }
        if rolls(swarm.workerDiskFull) {
            marks.hit(.workerDiskFull)
            nodes[index].fullUntil = now + faultRandom.below(Int64(40_000))
        }
        if rolls(swarm.clockJump) {
            marks.hit(.clockJumped)
            nodes[index].clock.jump(faultRandom.below(Int64(7_200_000)), at: now)
            nodes[index].troubledAt = max(nodes[index].troubledAt, now)
            nodes[index].wakeAt = now + 1
            schedule(.wake(index), at: now + 1)
        }
    }

    private mutating func cut(node index: Int) {
        let until = now + faultRandom.below(faultRandom.perMille(100) ? 300_000 : 60_000)
        switch faultRandom.below(3) {
        case 0:
            marks.hit(.cutBothWays)
            (nodes[index].deafUntil, nodes[index].muteUntil) = (until, until)
        case 1:
            marks.hit(.cutOneWay)
            nodes[index].deafUntil = until
        default:
            marks.hit(.cutOneWay)
            nodes[index].muteUntil = until
        }
        nodes[index].troubledAt = max(nodes[index].troubledAt, now)
        say("w\(index) is cut off: deaf until \(nodes[index].deafUntil), mute until \(nodes[index].muteUntil)")
    }

    private mutating func crash(node index: Int, for span: Int64) {
        guard nodes[index].worker != nil else { return }
        marks.hit(.workerCrashed)
        crashes += 1
        say("w\(index) dies")
        nodes[index].worker = nil
        nodes[index].downUntil = now + span
        nodes[index].troubledAt = max(nodes[index].troubledAt, now)
        nodes[index].wakeAt = nodes[index].downUntil
        schedule(.wake(index), at: nodes[index].downUntil)
    }

    private mutating func strikeCoordinator() {
        if coordinator != nil, rolls(swarm.coordinatorCrash) {
            marks.hit(.diedAtRandom)
            killCoordinator()
        }
        if coordinator != nil, rolls(swarm.coordinatorPause) {
            marks.hit(.coordinatorPaused)
            let span = faultRandom.below(Int64(60_000))
            coordinator?.pausedUntil = now + span
            coordinator?.slept += span
            coordinatorTroubledAt = now + span
            say("the coordinator stands still for \(span) ms")
        }
        if coordinator != nil, rolls(swarm.clockJump) {
            marks.hit(.clockJumped)
            let span = faultRandom.below(Int64(7_200_000))
            coordinator?.clock.jump(span, at: now)
            coordinator?.slept += span
            wakeCoordinator(by: now + 1)
        }
    }

    private mutating func strikeStorage() {
        if rolls(swarm.storeFull) { store.fullUntil = now + faultRandom.below(Int64(60_000)) }
        if rolls(swarm.lostBlob), let digest = randomBlob() {
            marks.hit(.blobLost)
            say("blob \(digest) is lost")
            blobs.lose(digest)
        }
        if rolls(swarm.rottenBlob), let digest = randomBlob(), blobs[digest]?.content.mayRot == true {
            marks.hit(.blobRotten)
            say("blob \(digest) rots")
            blobs.damage(digest)
        }
        if rolls(swarm.powerCut) {
            marks.hit(.powerCut)
            say("the power goes")
            killCoordinator()
            for index in nodes.indices { crash(node: index, for: faultRandom.below(Int64(20_000))) }
            blobs.cutPower(now: now, random: &faultRandom)
            checkNamed("power cut")
        }
    }

    private mutating func randomBlob() -> Digest? {
        guard !blobs.order.isEmpty else { return nil }
        // Or one that is on its way into the catalog, which takes only seconds.
        let awaited = store.state.jobs.flatMap(\.packages).filter { $0.state == .publishing }
            .flatMap { $0.merged?.digests ?? [] }.filter { blobs[$0] != nil }
        if !awaited.isEmpty, faultRandom.perMille(700) { return awaited[faultRandom.below(awaited.count)] }
        // Often one of the newest, which is about to be read.
        let newest = faultRandom.perMille(500) ? min(2, blobs.order.count) : blobs.order.count
        return blobs.order[blobs.order.count - 1 - faultRandom.below(newest)]
    }

    /// The end of all faults.
    mutating func heal() {
        isHealed = true
        say("all faults end")
        store.fullUntil = now
        for index in nodes.indices {
            (nodes[index].deafUntil, nodes[index].muteUntil, nodes[index].fullUntil) = (now, now, now)
            nodes[index].pausedUntil = min(nodes[index].pausedUntil, now)
            nodes[index].troubledAt = min(nodes[index].troubledAt, now)
            nodes[index].wakeAt = now + 1
            schedule(.wake(index), at: now + 1)
        }
        if coordinator == nil {
            coordinatorDownUntil = now
            schedule(.coordinatorWake, at: now)
        } else {
            coordinator?.pausedUntil = now
            coordinatorTroubledAt = min(coordinatorTroubledAt, now)
            wakeCoordinator(by: now + 1)
        }
    }
}
