import ArgumentParser
import ClusterClient
import Foundation
import Regions
import Testing
import Tiles
import Tilesets
import Wire

@testable import Commands
@testable import Gateway

/// The same area gives the same packages, however it was asked for: only then the coordinator finds the job that exists.
struct SameAreaTests {
    private static let tileset = """
        {"version":1,"id":"demo","templates":["https://a.example/{z}/{x}/{y}"],"scheme":"xyz","format":"pbf","minzoom":0,
        "maxzoom":9,"headers":{},"concurrency":1,"contact":"maps@example.com","connectSeconds":1,"totalSeconds":1,"stallSeconds":1,"http2":false,
        "maxTileBytes":1000}
        """

    /// The submission of a command or of an HTTP request for these areas.
    private func submission(_ areas: [Area]) throws -> PBSubmit {
        let tileset = try Tileset(canonicalJSON: Array(Self.tileset.utf8))
        return try JobDraft(areas: areas, zooms: tileset.zooms, tileset: tileset).request(SubmitPolicy(requestID: ""))
    }

    /// The areas of an HTTP request.
    private func asked(_ json: String) throws -> [Area] {
        let request = try JSONDecoder().decode(AreaRequest.self, from: Data(json.utf8))
        return try request.areas { () throws(Problem) in
            do { return try RegionTree.embedded() } catch { throw Problem(.internalError, "\(error)") }
        }
    }

    @Test(arguments: [
        ("24.5,59.3,25,59.5", "[24.5, 59.3, 25.0, 59.5]"),
        (" bbox( 24.50, 59.3, 25.0, 5.95e1 )", "[24.5,59.3,25,59.5]"),
        ("bbox(177,-20,-178,-15)", "[177,-20,-178,-15]"), ("[24.5,59.3,25,59.5]", "[24.5,59.3,25,59.5]"),
        ("24.5 59.3 25 59.5", "[24.5,59.3,25,59.5]"), ("-180,-90,180,90", "[-180,-90,180,90]"),
    ])
    func aBoxIsTheSameJobFromTheCommandLineAndOverHTTP(text: String, numbers: String) throws {
        #expect(AreaReader.isBox(text))
        let typed = try submission([AreaReader.box(text)])
        #expect(try typed == submission(asked(#"{"bbox":\#(numbers)}"#)))
        #expect(typed.packages.map(\.names) == [["en": typed.label]])
    }

    @Test func regionsAreTheSameJobFromTheCommandLineAndOverHTTP() throws {
        let tree = try RegionTree.embedded()
        let typed = try ["estonia", "LV"].map { try AreaReader.named($0, in: tree) }
        #expect(try submission(typed) == submission(asked(#"{"regions":["EE","Latvia"]}"#)))
    }

    @Test func aBoxOutsideOfTheMapIsRefusedByBoth() throws {
        #expect(throws: ClusterError.self) { try AreaReader.box("0,86,10,90") }
        #expect(throws: Problem.self) { try asked(#"{"bbox":[0,86,10,90]}"#) }
    }

    @Test(arguments: [
        (["[24.5,59.3,25,59.5]"], ["bbox_24.5_59.3_25.0_59.5"]),
        (["24.5", "59.3", "25", "59.5"], ["bbox_24.5_59.3_25.0_59.5"]),
        (["[24.5,", "59.3,", "25,", "59.5]"], ["bbox_24.5_59.3_25.0_59.5"]),
        (["Korea, South", "276", "The Gambia"], ["KR", "DE", "GM"]),
    ])
    func argumentsAreBoxesOrRegions(words: [String], ids: [String]) throws {
        #expect(try AreaOptions.parse(words).read().map(\.id) == ids)
    }

    @Test(arguments: [["[1,2,3]"], ["1,5,3,4"], ["[1,2", "EE"], ["1,2,3,4", "EE"]])
    func aBoxThatCannotBeReadIsNotARegion(words: [String]) {
        #expect { try AreaOptions.parse(words).read() } throws: { !"\($0)".contains("no region") }
    }
}
