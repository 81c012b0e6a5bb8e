import Testing

@testable import Transfer

struct HostLookupTests {
    @Test(arguments: ["localhost", "127.0.0.1", "::1"])
    func aHostOfThisMachineIsFound(name: String) async {
        #expect(await HostLookup.answer(for: name) == .found)
    }

    /// No label of a name begins with a hyphen, so that the resolver asks no server.
    @Test func aNameThatCannotExistIsUnknown() async {
        #expect(await HostLookup.answer(for: "-.invalid") == .unknown)
    }

    /// The resolver or the limit may be first: an answer that did not come in time says nothing about the name.
    @Test func aLimitThatHasPassedMakesNoHostUnknown() async {
        #expect(await HostLookup.answer(for: "localhost", within: .zero) != .unknown)
    }
}
