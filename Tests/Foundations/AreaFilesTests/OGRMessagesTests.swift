import Testing

@testable import AreaFiles

struct OGRMessagesTests {
    private static func read(_ text: String, by count: Int = .max) -> OGRMessages {
        var messages = OGRMessages()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            messages.add(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        messages.end()
        return messages
    }

    /// As GDAL 3.6 and 3.12 write them, whole and in pieces.
    @Test(
        arguments: [
            ("", nil, nil, 0),
            ("\n \n", nil, nil, 0),
            ("Warning 1: Value 'x' of field a.b parsed incompletely to real 0.\n", nil, "Value 'x'", 1),
            ("Warning 1: Invalid content for record 1 in column d: x\nWarning 1: two", nil, "Invalid content", 2),
            ("Warning 1: The output driver does not natively support Date type for field d. Use x.\n", nil, nil, 0),
            ("Warning 6: a\nERROR 1: b\nWarning 1: c\nERROR 1: d\n", "ERROR 1: b", "a", 2),
            ("Warning 1: Infinite or NaN coordinate encountered\n", "Warning 1: Infinite or NaN coordinate", nil, 0),
            (
                "ERROR 1: Can't transform coordinates, source layer has no\ncoordinate system.  Use -s_srs to set one.\n",
                "layer has no coordinate system.", nil, 0
            ),
            (
                "FAILURE:\nUnable to open datasource `x' with the following drivers.\n  -> FITS\n", "Unable to open",
                nil, 0
            ),
            ("a text without a class\n", "a text", nil, 0),
        ] as [(String, String?, String?, Int)])
    func errorsRefuseAndWarningsArePassedOn(text: String, fault: String?, warning: String?, count: Int) {
        for size in [1, 7, .max] {
            let read = Self.read(text, by: size)
            #expect(fault.map { read.fault?.contains($0) == true } ?? (read.fault == nil), "\(read)")
            #expect(warning.map { read.warning?.hasPrefix($0) == true } ?? (read.warning == nil), "\(read)")
            #expect(read.warningCount == count)
        }
    }

    @Test func anErrorAfterManyWarningsIsFoundAndTextsStayShort() {
        let long = String(repeating: "x", count: 100_000)
        let read = Self.read(String(repeating: "Warning 1: \(long)\n", count: 30) + "ERROR 1: cut\n" + long)
        #expect(read.warningCount == 30 && (read.warning?.utf8.count ?? 0) < 1_100)
        #expect(read.fault?.hasPrefix("ERROR 1: cut") == true && (read.fault?.utf8.count ?? 0) < 2_100)
    }
}
