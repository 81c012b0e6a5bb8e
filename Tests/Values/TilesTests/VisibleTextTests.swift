import Testing
import Tiles

struct VisibleTextTests {
    @Test func textWithoutControlsStaysAsItIs() {
        for text in ["", "Tallinn", "Таллин 東京 🗺️ e\u{301}", "a\\nb", "zero\u{200B}width\u{200D}joiner"] {
            #expect(VisibleText.escaped(text) == text)
            #expect(!VisibleText.hasControl(text))
        }
    }

    @Test(arguments: [
        ("\u{1B}[2J", #"\u001B[2J"#), ("a\r\nb\t", #"a\r\nb\t"#),
        ("\u{0}\u{7F}\u{80}\u{9B}", #"\u0000\u007F\u0080\u009B"#),
        ("\u{202A}\u{202E}\u{2066}\u{2069}", #"\u202A\u202E\u2066\u2069"#),
        ("\u{200E}\u{200F}\u{61C}\u{2028}\u{2029}", #"\u200E\u200F\u061C\u2028\u2029"#),
    ])
    func controlsAreShownAsEscapesOfJSON(text: String, shown: String) {
        #expect(VisibleText.escaped(text) == shown)
        #expect(VisibleText.hasControl(text))
    }
}
