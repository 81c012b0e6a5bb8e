/// How the two ends of a link trust each other.
public enum LinkSecurity: Sendable {
    /// No encryption and no names; loopback only, unless ``LinkOptions/allowPlain`` says otherwise.
    case plain
    /// CURVE: encrypted, and only keys of the list may connect.
    case curveServer(KeyPair, AllowList)
    /// CURVE: encrypted, and only the holder of the secret half of `serverKey` is talked to.
    case curveClient(KeyPair, serverKey: PublicKey)

    var isPlain: Bool {
        if case .plain = self { true } else { false }
    }
}
