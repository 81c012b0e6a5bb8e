/// What comes of the work on files: verify, patch, prepare.
extension StoreMachine {
    mutating func verified(_ id: OpID) {
        guard let op = endOp(id), let piece = op.work.piece else { return }
        setVerified(piece.file.digest, true)
        setPart(piece.file.digest, piece.size)
        if case .patch = op.work, let patch = piece.patch { discardPart(patch.digest) }
    }

    mutating func wrong(_ id: OpID) {
        guard let op = endOp(id), let piece = op.work.piece else { return }
        if case .patch = op.work, let patch = piece.patch {
            isWrong(Attempt(task: op.task, piece: piece, digest: patch.digest))
        } else {
            isWrong(Attempt(task: op.task, piece: piece, digest: piece.file.digest))
        }
    }

    /// The first time the download starts over, the second time the file is given up.
    mutating func isWrong(_ attempt: Attempt) {
        guard let piece = attempt.piece else { return }
        let digest = attempt.digest
        if digest == piece.patch?.digest && dropsPatch(piece) { return }
        discardPart(digest)
        wrongs[digest, default: 0] += 1
        if wrongs[digest, default: 0] > 1 && digest == piece.file.digest {
            setFailed(piece, of: attempt.task, .badBytes)
        }
    }

    mutating func prepared(_ id: OpID, _ file: InstalledFile) {
        _ = endOp(id)
        guard rows.units[file.id] == nil else { return }
        setPart(file.sha256, nil)
        setVerified(file.sha256, false)
        forgetFilled(file.sha256)
        addPrepared(file)
        if !plans.wants(file.id) { discardPrepared(file.id) }
    }

    mutating func fileFailed(_ id: OpID, isFull: Bool, text: String?) {
        guard let op = endOp(id), let piece = op.work.piece else { return }
        if isFull {
            diskFull(op.task)
        } else {
            diskTexts[op.task] = text
            giveUp(Attempt(task: op.task, piece: piece, digest: piece.file.digest), .storage)
        }
    }
}
