import Testing

@testable import OfflineMaps

struct CatalogNotReadTests {
    private static let address = "https://maps.example.com/offline/"

    @Test(arguments: [
        (FailureCause.notFound, StoreError.Code.catalog, "Check the address"),
        (.connection, .network, "Check the network"),
        (.badSignature, .catalog, "Check the key"), (.serverError, .network, "later"),
    ])
    func theMessageNamesTheAddressAndTheRemedy(_ cause: FailureCause, _ code: StoreError.Code, _ advice: String) {
        let error = StoreError.catalogNotRead(Self.address, cause, isHeldBack: false)
        #expect(error.message.contains(Self.address) && error.advice?.contains(advice) == true, "\(error)")
        #expect(error.code == code && error.failure == cause)
    }

    @Test func anAppThatIsSetOfflineIsNamed() {
        let error = StoreError.catalogNotRead(Self.address, .connection, isHeldBack: true)
        #expect(error.description.contains("set offline") && error.code == .network)
    }
}
