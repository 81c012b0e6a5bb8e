/// How the two ends of a link authenticate each other.
public enum LinkSecurity: Sendable {
    /// No encryption and no names. Only loopback, unless ``LinkOptions/allowPlain`` is set.
    case plain
    /// CURVE: encrypted, and only keys of the list may connect.
    case curveServer(KeyPair, AllowList)
    /// CURVE: encrypted, and connects only to the holder of the secret half of `serverKey`.
    case curveClient(KeyPair, serverKey: PublicKey)

    var isPlain: Bool {
        if case .plain = self { true } else { false }
    }
}
