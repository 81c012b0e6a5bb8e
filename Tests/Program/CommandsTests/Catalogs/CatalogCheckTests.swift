import Catalog
import CatalogFormat
import CatalogTransfer
import CommandSupport
import Errors
import Foundation
import Packages
import Testing

@testable import Commands

struct CatalogCheckTests {
    private func said(_ source: CatalogSource, _ key: CatalogPublicKey?) async -> String {
        do {
            _ = try await CatalogCheck.run(source, key: key)
            return ""
        } catch let error as CLIError {
            #expect(error.status == .badData)
            return ([error.message] + error.details).joined(separator: "\n")
        } catch {
            Issue.record("\(error)")
            return ""
        }
    }

    private func shop() throws -> Shop {
        let shop = try Shop()
        for version in 1...3 { try shop.publish("EE", UInt64(version)) }
        try shop.publish(
            "LV", 9, edition: try CatalogEdition(group: "terrain"), others: [try shop.pmtiles(9)])
        return shop
    }

    @Test func aVerifiedCatalogIsProvenFromAFolderAndFromAServer() async throws {
        let shop = try shop()
        let key = try shop.key.publicKey
        for place in [shop.file("catalog").path, try shop.address(), try shop.address() + "catalog.json"] {
            let check = try await CatalogCheck.run(try CatalogSource(place), key: key)
            #expect(
                check.paths == [
                    "groups/terrain/packages/1/LV.mbtiles", "groups/terrain/packages/1/LV.pmtiles",
                    "packages/1/EE.mbtiles", "packages/2/EE.mbtiles", "packages/3/EE.mbtiles", "patches/EE/1-2.mbtiles",
                    "patches/EE/1-3.mbtiles", "patches/EE/2-3.mbtiles",
                ])
            #expect(check.key == key.id && check.summary.hasPrefix("catalog verified: 2 packages, 8 files"))
            #expect(check.tiles == 5 * 29)
        }
        #expect(Set(shop.asked().map(\.path)).count == 12, "every document and every file was read")
        // A data folder leads to its catalog.
        #expect(try await CatalogCheck.run(try CatalogSource(shop.folder.path)).key == nil)
    }

    @Test func everyChangedFileIsNamed() async throws {
        let shop = try shop()
        let key = try shop.key.publicKey
        let paths = try await CatalogCheck.run(try CatalogSource(shop.file("catalog").path)).paths
        for path in paths {
            let file = shop.file("catalog/\(path)")
            let whole = try Data(contentsOf: file)
            try shop.flip(path)
            let flipped = await said(try CatalogSource(shop.file("catalog").path), key)
            #expect(
                flipped.contains("\(path): ") && flipped.contains("[wrong-digest]") && flipped.contains("1 problem\n"))
            try Data(whole.dropLast()).write(to: file)
            let cut = await said(try CatalogSource(shop.file("catalog").path), key)
            #expect(cut.contains("\(path): ") && cut.contains("[wrong-size]"))
            try FileManager.default.removeItem(at: file)
            let gone = await said(try CatalogSource(shop.file("catalog").path), key)
            #expect(gone.contains("\(path): missing [missing-file]"))
            let remote = await said(try CatalogSource(try shop.address()), key)
            #expect(remote.contains("\(path): missing [missing-file]"))
            try whole.write(to: file)
        }
        #expect(await said(try CatalogSource(shop.file("catalog").path), key).isEmpty)
    }

    @Test func everyChangedDocumentIsFound() async throws {
        let shop = try shop()
        let key = try shop.key.publicKey
        for path in ["catalog.json", "catalog.json.sig", "packages.json", "groups/terrain/packages.json"] {
            let file = shop.file("catalog/\(path)")
            let whole = try Data(contentsOf: file)
            // The second half of the signature file is that of the catalog before.
            let end = path.hasSuffix(".sig") ? whole.count / 2 : whole.count
            for place in stride(from: 3, to: end, by: max(1, end / 12)) {
                let isBlank = [0x20, 0x0A].contains(whole[place])
                guard !isBlank || !path.hasSuffix(".sig") else { continue }
                try shop.flip(path, at: place)
                let words = await said(try CatalogSource(shop.file("catalog").path), key)
                #expect(words.contains("problem"), "\(path) \(place)")
                try whole.write(to: file)
            }
        }
        let other = try CatalogSecretKey().publicKey
        #expect(await said(try CatalogSource(shop.file("catalog").path), other).contains("[bad-signature]"))
        try FileManager.default.removeItem(at: shop.file("catalog/catalog.json.sig"))
        #expect(await said(try CatalogSource(shop.file("catalog").path), key).contains("not signed"))
        #expect(await said(try CatalogSource(shop.file("catalog").path), nil).isEmpty)
        try FileManager.default.removeItem(at: shop.file("catalog/catalog.json"))
        #expect(await said(try CatalogSource(shop.file("catalog").path), key).contains("catalog.json"))
        #expect(await said(try CatalogSource(shop.file("catalog").path), nil).isEmpty, "catalogs of earlier builds")
    }

    @Test func tilePacksAreOfTheCatalog() async throws {
        let shop = try Shop()
        try shop.publish("EE", 1)
        var order = TilePacks.Order(
            package: shop.file("catalog/packages/1/EE.mbtiles"), id: "EE", tileset: "demo")
        order.mask = Shop.mask
        let list = try TilePacks.cut(order, into: shop.file("catalog")) { _, _ in }
        #expect(list.packs.count > 1)
        let source = try CatalogSource(shop.file("catalog").path)
        let key = try shop.key.publicKey
        #expect(try await CatalogCheck.run(source, key: key).paths == ["packages/1/EE.mbtiles"], "not told yet")
        try shop.catalog.refresh()
        let check = try await CatalogCheck.run(source, key: key)
        #expect(check.paths.count == 1 + list.packs.count && check.tiles == 2 * 29)
        let pack = try #require(check.paths.first { $0.hasPrefix("packs/demo/") })
        try shop.flip(pack)
        #expect(await said(source, key).contains("\(pack): "))
        try shop.flip(pack)
        #expect(await said(source, key).isEmpty)
        try shop.flip("regions/EE.json", at: 20)
        #expect(await said(source, key).contains("regions/EE.json: its SHA-256"))
    }

    @Test func aListThatNamesFilesElsewhereIsRefused() async throws {
        let shop = try shop()
        let file = shop.file("catalog/packages.json")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacingOccurrences(of: #""id" : "EE""#, with: #""id" : "../EE""#).write(
            to: file, atomically: true, encoding: .utf8)
        let words = await said(try CatalogSource(shop.file("catalog").path), nil)
        #expect(words.contains("packages.json: ") && words.contains("[catalog-corrupt]"))
    }
}
