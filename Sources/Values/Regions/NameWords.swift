/// The words of a name without what people write in several ways: order, articles, abbreviations, the form of a state.
///
/// `Korea, South` and `South Korea` have the same words, and so have `The Gambia` and `Gambia`. Languages: those of the tree.
struct NameWords {
    /// The words in the order of the alphabet, joined by spaces; equal for names that say the same.
    let key: String
    /// The same without the form of a state: `estonia` for `Republic of Estonia`.
    ///
    /// Empty when nothing else is there.
    let keyWithoutForms: String
    /// Whether the form is one of a part of a country: `State of Georgia`.
    let namesAPart: Bool

    /// - Parameter folded: A name as ``NameFolding/fold(_:)`` gives it.
    init(folded: String) {
        let words = folded.split(separator: " ").map(String.init)
            .map { Self.abbreviations[$0] ?? $0 }.filter { !Self.smallWords.contains($0) }
        key = Self.key(words)
        keyWithoutForms = Self.key(words.filter { !Self.forms.contains($0) && !Self.formsOfParts.contains($0) })
        namesAPart = words.contains { Self.formsOfParts.contains($0) }
    }

    /// The words that say more than a form of state, of at least four letters.
    static func telling(_ folded: String) -> [String] {
        folded.split(separator: " ").map(String.init).filter {
            $0.count >= 4 && !forms.contains($0) && !formsOfParts.contains($0)
        }
    }

    private static func key(_ words: [String]) -> String { words.sorted().joined(separator: " ") }

    private static func set(_ words: String) -> Set<String> { Set(words.split(separator: " ").map(String.init)) }

    private static let abbreviations = [
        "st": "saint", "ste": "sainte", "dem": "democratic", "rep": "republic", "fed": "federation", "sts": "states",
        "is": "islands", "isl": "islands",
    ]

    /// Articles and words that join.
    private static let smallWords = set(
        "the of and la le les el los las il lo gli der die das de du des del della di et und y e i")

    private static let forms = set(
        """
        republic kingdom states country nation federation federal federated federative democratic peoples socialist islamic arab \
        united union commonwealth principality duchy grand sultanate emirate confederation independent sovereign plurinational \
        bolivarian hashemite rb pdr bundesrepublik republik konigreich republique royaume republica reino repubblica regno vabariik \
        kuningriik республика королевство федерация
        """)

    private static let formsOfParts = set("state province territory freistaat land")
}
