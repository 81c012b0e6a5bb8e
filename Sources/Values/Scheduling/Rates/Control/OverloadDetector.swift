/// Counts refusals beyond the noise since the overload began.
struct OverloadDetector: Sendable {
    private(set) var sum = 0.0
    private var answered = 0.0
    private var refused = 0.0
    private var busy = 0.0

    mutating func addSample(_ sample: OriginControl.Sample, noise: Double) {
        sum += sample.refused - noise * (sample.answered + sample.refused)
        guard sum > 0 else {
            self = OverloadDetector()
            return
        }
        answered += sample.answered
        refused += sample.refused
        busy += sample.busy
    }

    /// The share that was refused since the overload began.
    var share: Double { refused / max(answered + refused, 1) }
    var busyShare: Double { busy / max(refused, 1) }
}
