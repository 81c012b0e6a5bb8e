/// What comes of the work on files: verify, patch, prepare.
extension StoreMachine {
    mutating func verified(_ id: OpID) {
        guard let op = endOp(id), let download = op.work.download else { return }
        setVerified(download.file.digest, true)
        setPart(download.file.digest, download.size)
        if case .patch = op.work, let patch = download.patch { discardPart(patch.digest) }
    }

    mutating func wrong(_ id: OpID) {
        guard let op = endOp(id), let download = op.work.download else { return }
        if case .patch = op.work, let patch = download.patch {
            isWrong(Attempt(task: op.task, download: download, digest: patch.digest))
        } else {
            isWrong(Attempt(task: op.task, download: download, digest: download.file.digest))
        }
    }

    /// The first time the download starts over, the second time the file is given up.
    mutating func isWrong(_ attempt: Attempt) {
        guard let download = attempt.download else { return }
        let digest = attempt.digest
        if digest == download.patch?.digest && dropsPatch(download) { return }
        discardPart(digest)
        wrongs[digest, default: 0] += 1
        if wrongs[digest, default: 0] > 1 && digest == download.file.digest {
            setFailed(download, of: attempt.task, .badBytes)
        }
    }

    mutating func prepared(_ id: OpID, _ file: InstalledFile) {
        _ = endOp(id)
        guard rows.files[file.id] == nil else { return }
        setPart(file.sha256, nil)
        setVerified(file.sha256, false)
        forgetFilled(file.sha256)
        addPrepared(file)
        if !plans.wants(file.id) { discardPrepared(file.id) }
    }

    mutating func fileFailed(_ id: OpID, isFull: Bool, text: String?) {
        guard let op = endOp(id), let download = op.work.download else { return }
        if isFull {
            diskFull(op.task)
        } else {
            diskTexts[op.task] = text
            giveUp(Attempt(task: op.task, download: download, digest: download.file.digest), .storage)
        }
    }
}
