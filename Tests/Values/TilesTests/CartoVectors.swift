// Vectors of CARTO's tile mask, carried over as data: made by compiling CartoDB/mobile-sdk (commit f7ce64c9)
// PackageTileMask, cross-checked with a second implementation. Tiles are "z/x/y" with y from the south.

import Foundation

struct CartoVectors: Decodable {
    struct Encode: Decodable {
        let name: String
        let tiles: [String]
        let clipZoom: Int
        let mask: String
        let maxZoom: Int
        let wire: String
        let urlSafe: String
        let bits: String
    }

    struct Box: Decodable {
        let name: String
        let packageId: String
        let tileZoom: Int
        let tileCount: UInt64?
        let chosenClipZoom: Int?
        let mask: String?
        let wire: String?
        let urlSafe: String?
    }

    struct Status: Decodable {
        let mask: String
        let maxZoom: Int
        let tiles: [String: String]
    }

    struct Decode: Decodable {
        let input: String
        let maxZoom: Int
        let tiles: [String: String]
    }

    let encode: [Encode]
    let bbox: [Box]
    let status: [Status]
    let decode: [Decode]

    static func load() throws -> CartoVectors {
        try JSONDecoder().decode(CartoVectors.self, from: Data(json.utf8))
    }

    private static let json = #"""
        {
        "encode": [
        {"name":"empty", "tiles":[], "clipZoom":0, "mask":"AAAA", "maxZoom":0, "wire":"AAAA:0", "urlSafe":"AAAA",
        "bits":"00"},
        {"name":"root only", "tiles":["0/0/0"], "clipZoom":0, "mask":"QAAA", "maxZoom":0, "wire":"QAAA:0",
        "urlSafe":"QAAA", "bits":"01"},
        {"name":"root + 4 children collapses", "tiles":["0/0/0", "1/0/0", "1/1/0", "1/0/1", "1/1/1"],
        "clipZoom":1, "mask":"QAAA", "maxZoom":1, "wire":"QAAA:1", "urlSafe":"QAAA", "bits":"01"},
        {"name":"child order SW", "tiles":["0/0/0", "1/0/0"], "clipZoom":1, "mask":"0AAA", "maxZoom":1,
        "wire":"0AAA:1", "urlSafe":"0AAA", "bits":"1101000000"},
        {"name":"child order SE", "tiles":["0/0/0", "1/1/0"], "clipZoom":1, "mask":"xAAA", "maxZoom":1,
        "wire":"xAAA:1", "urlSafe":"xAAA", "bits":"1100010000"},
        {"name":"child order NW", "tiles":["0/0/0", "1/0/1"], "clipZoom":1, "mask":"wQAA", "maxZoom":1,
        "wire":"wQAA:1", "urlSafe":"wQAA", "bits":"1100000100"},
        {"name":"child order NE", "tiles":["0/0/0", "1/1/1"], "clipZoom":1, "mask":"wEAA", "maxZoom":1,
        "wire":"wEAA:1", "urlSafe":"wEAA", "bits":"1100000001"},
        {"name":"clip deeper than the deepest tile", "tiles":["0/0/0"], "clipZoom":14, "mask":"wAAA", "maxZoom":0,
        "wire":"wAAA:0", "urlSafe":"wAAA", "bits":"1100000000"},
        {"name":"clip deeper, root+SW", "tiles":["0/0/0", "1/0/0"], "clipZoom":2, "mask":"8AAA", "maxZoom":1,
        "wire":"8AAA:1", "urlSafe":"8AAA", "bits":"111100000000000000"},
        {"name":"orphan tile without ancestors is dropped", "tiles":["1/0/0"], "clipZoom":1, "mask":"AAAA",
        "maxZoom":1, "wire":"AAAA:1", "urlSafe":"AAAA", "bits":"00"},
        {"name":"orphan grandchild dropped", "tiles":["0/0/0", "2/3/3"], "clipZoom":2, "mask":"wAAA", "maxZoom":2,
        "wire":"wAAA:2", "urlSafe":"wAAA", "bits":"1100000000"},
        {"name":"three of four children", "tiles":["0/0/0", "1/0/0", "1/1/0", "1/0/1"], "clipZoom":1,
        "mask":"1QAA", "maxZoom":1, "wire":"1QAA:1", "urlSafe":"1QAA", "bits":"1101010100"},
        {"name":"checkerboard z2", "tiles":["0/0/0", "1/0/0", "1/0/1", "1/1/0", "1/1/1", "2/0/0", "2/0/2",
        "2/1/1", "2/1/3", "2/2/0", "2/2/2", "2/3/1", "2/3/3"], "clipZoom":2, "mask":"9B0HQdBA", "maxZoom":2,
        "wire":"9B0HQdBA:2", "urlSafe":"9B0HQdBA", "bits":"111101000001110100000111010000011101000001"},
        {"name":"z14 single column, clip 14", "tiles":["0/0/0", "1/1/1", "2/2/2", "3/4/5", "4/9/11", "5/18/22",
        "6/36/45", "7/72/90", "8/145/181", "9/291/362", "10/583/724", "11/1166/1448", "12/2332/2896",
        "13/4665/5793", "14/9330/11587"], "clipZoom":14, "mask":"wPDA8PAzPwMEAAAAAAAA", "maxZoom":14,
        "wire":"wPDA8PAzPwMEAAAAAAAA:14", "urlSafe":"wPDA8PAzPwMEAAAAAAAA",
        "bits":"110000001111000011000000111100001111000000110011001111110000001100000100000000000000000000000000000000000000000000"},
        {"name":"z14 single column, clip 12", "tiles":["0/0/0", "1/1/1", "2/2/2", "3/4/5", "4/9/11", "5/18/22",
        "6/36/45", "7/72/90", "8/145/181", "9/291/362", "10/583/724", "11/1166/1448", "12/2332/2896",
        "13/4665/5793", "14/9330/11587"], "clipZoom":12, "mask":"wPDA8PAzPQAAAAAAAAAA", "maxZoom":14,
        "wire":"wPDA8PAzPQAAAAAAAAAA:14", "urlSafe":"wPDA8PAzPQAAAAAAAAAA",
        "bits":"11000000111100001100000011110000111100000011001100111101000000000000000000000000000000000000000000"},
        {"name":"z14 single column, clip 10", "tiles":["0/0/0", "1/1/1", "2/2/2", "3/4/5", "4/9/11", "5/18/22",
        "6/36/45", "7/72/90", "8/145/181", "9/291/362", "10/583/724", "11/1166/1448", "12/2332/2896",
        "13/4665/5793", "14/9330/11587"], "clipZoom":10, "mask":"wPDA8PAzEAAAAAAA", "maxZoom":14,
        "wire":"wPDA8PAzEAAAAAAA:14", "urlSafe":"wPDA8PAzEAAAAAAA",
        "bits":"1100000011110000110000001111000011110000001100110001000000000000000000000000000000"},
        {"name":"clip 0 keeps only the root bit", "tiles":["0/0/0", "1/1/1", "2/2/2", "3/4/5", "4/9/11",
        "5/18/22", "6/36/45", "7/72/90", "8/145/181", "9/291/362", "10/583/724", "11/1166/1448", "12/2332/2896",
        "13/4665/5793", "14/9330/11587"], "clipZoom":0, "mask":"QAAA", "maxZoom":14, "wire":"QAAA:14",
        "urlSafe":"QAAA", "bits":"01"},
        {"name":"full pyramid z0..z3", "tiles":["0/0/0", "1/0/0", "1/0/1", "1/1/0", "1/1/1", "2/0/0", "2/0/1",
        "2/0/2", "2/0/3", "2/1/0", "2/1/1", "2/1/2", "2/1/3", "2/2/0", "2/2/1", "2/2/2", "2/2/3", "2/3/0",
        "2/3/1", "2/3/2", "2/3/3", "3/0/0", "3/0/1", "3/0/2", "3/0/3", "3/0/4", "3/0/5", "3/0/6", "3/0/7",
        "3/1/0", "3/1/1", "3/1/2", "3/1/3", "3/1/4", "3/1/5", "3/1/6", "3/1/7", "3/2/0", "3/2/1", "3/2/2",
        "3/2/3", "3/2/4", "3/2/5", "3/2/6", "3/2/7", "3/3/0", "3/3/1", "3/3/2", "3/3/3", "3/3/4", "3/3/5",
        "3/3/6", "3/3/7", "3/4/0", "3/4/1", "3/4/2", "3/4/3", "3/4/4", "3/4/5", "3/4/6", "3/4/7", "3/5/0",
        "3/5/1", "3/5/2", "3/5/3", "3/5/4", "3/5/5", "3/5/6", "3/5/7", "3/6/0", "3/6/1", "3/6/2", "3/6/3",
        "3/6/4", "3/6/5", "3/6/6", "3/6/7", "3/7/0", "3/7/1", "3/7/2", "3/7/3", "3/7/4", "3/7/5", "3/7/6",
        "3/7/7"], "clipZoom":3, "mask":"QAAA", "maxZoom":3, "wire":"QAAA:3", "urlSafe":"QAAA", "bits":"01"},
        {"name":"western hemisphere z0..z2", "tiles":["0/0/0", "1/0/0", "1/0/1", "2/0/0", "2/0/1", "2/0/2",
        "2/0/3", "2/1/0", "2/1/1", "2/1/2", "2/1/3"], "clipZoom":2, "mask":"0QAA", "maxZoom":2, "wire":"0QAA:2",
        "urlSafe":"0QAA", "bits":"1101000100"},
        {"name":"duplicates are ignored", "tiles":["0/0/0", "0/0/0", "1/1/0", "1/1/0"], "clipZoom":1,
        "mask":"xAAA", "maxZoom":1, "wire":"xAAA:1", "urlSafe":"xAAA", "bits":"1100010000"}
        ],
        "bbox": [
        {"name":"Berlin (SDK guide)", "packageId":"bbox(13.2285,52.4698,13.5046,52.57477)", "tileZoom":14,
        "tileCount":175, "chosenClipZoom":12, "mask":"wPDwPDAwwMDBcMMFAPPMQD0AAAAAAAAA", "maxZoom":14,
        "wire":"wPDwPDAwwMDBcMMFAPPMQD0AAAAAAAAA:14", "urlSafe":"wPDwPDAwwMDBcMMFAPPMQD0AAAAAAAAA"},
        {"name":"London (seed doc)", "packageId":"bbox(-0.8164,51.2382,0.6406,51.7401)", "tileZoom":14,
        "tileCount":3436, "chosenClipZoom":12,
        "mask":"wzAzAzAzDMwUTEfwXBV8FwVVPMTUA9dQ1DXUNQAAAPDw8PD8FwVfBcFVQ/XUNQ11DUAAAAAAAAAA", "maxZoom":14,
        "wire":"wzAzAzAzDMwUTEfwXBV8FwVVPMTUA9dQ1DXUNQAAAPDw8PD8FwVfBcFVQ/XUNQ11DUAAAAAAAAAA:14",
        "urlSafe":"wzAzAzAzDMwUTEfwXBV8FwVVPMTUA9dQ1DXUNQAAAPDw8PD8FwVfBcFVQ_XUNQ11DUAAAAAAAAAA"},
        {"name":"Tallinn", "packageId":"bbox(24.55,59.35,24.95,59.5)", "tileZoom":14, "tileCount":395,
        "chosenClipZoom":12, "mask":"wPDA8PMMwMBMxExHwwXBRAAAAAAA", "maxZoom":14,
        "wire":"wPDA8PMMwMBMxExHwwXBRAAAAAAA:14", "urlSafe":"wPDA8PMMwMBMxExHwwXBRAAAAAAA"},
        {"name":"around 0,0", "packageId":"bbox(-1.0,-1.0,1.0,1.0)", "tileZoom":14, "tileCount":11385,
        "chosenClipZoom":12, "mask":"8DAwMDAwMDwHBcRcMMMMMMPBcEdEAAMzMzM8RcQ1AAAAAP//dE1DQAAAAAAAAAAA",
        "maxZoom":14, "wire":"8DAwMDAwMDwHBcRcMMMMMMPBcEdEAAMzMzM8RcQ1AAAAAP//dE1DQAAAAAAAAAAA:14",
        "urlSafe":"8DAwMDAwMDwHBcRcMMMMMMPBcEdEAAMzMzM8RcQ1AAAAAP__dE1DQAAAAAAAAAAA"},
        {"name":"lower-left corner exactly on the 0,0 tile corner", "packageId":"bbox(0.0,0.0,10.0,10.0)",
        "tileZoom":9, "tileCount":392, "chosenClipZoom":9,
        "mask":"8DAwMDAwMDAcMMMMMMMFwXDBcFwwwXBcMFwQAzMzMzETETMRMRMzETETMRMQAAD/3d0R0R3RHRNddQ1DXUNQ3dEdE11DUN0TUNAAAAAA", "maxZoom":9, "wire":"8DAwMDAwMDAcMMMMMMMFwXDBcFwwwXBcMFwQAzMzMzETETMRMRMzETETMRMQAAD/3d0R0R3RHRNddQ1DXUNQ3dEdE11DUN0TUNAAAAAA:9", "urlSafe":"8DAwMDAwMDAcMMMMMMMFwXDBcFwwwXBcMFwQAzMzMzETETMRMRMzETETMRMQAAD_3d0R0R3RHRNddQ1DXUNQ3dEdE11DUN0TUNAAAAAA"},
        {"name":"whole world to z6", "packageId":"bbox(-180.0,-85.0511,180.0,85.0511)", "tileZoom":6,
        "tileCount":5461, "chosenClipZoom":6, "mask":"QAAA", "maxZoom":6, "wire":"QAAA:6", "urlSafe":"QAAA"},
        {"name":"4x2 degrees", "packageId":"bbox(22.0,57.5,26.0,59.5)", "tileZoom":14, "tileCount":42930,
        "chosenClipZoom":12,
        "mask":"wPDDMwMzwMFwwXBcRTxFxFM8RcRTxFxFMzPEXEU8RcRQAPw/wwXBcMFwVfDBcFwwXBVX8MFwXDBcFXwwXBcMFwVVX/DBcFwwXBVENED1D0QAAAAA", "maxZoom":14, "wire":"wPDDMwMzwMFwwXBcRTxFxFM8RcRTxFxFMzPEXEU8RcRQAPw/wwXBcMFwVfDBcFwwXBVX8MFwXDBcFXwwXBcMFwVVX/DBcFwwXBVENED1D0QAAAAA:14", "urlSafe":"wPDDMwMzwMFwwXBcRTxFxFM8RcRTxFxFMzPEXEU8RcRQAPw_wwXBcMFwVfDBcFwwXBVX8MFwXDBcFXwwXBcMFwVVX_DBcFwwXBVENED1D0QAAAAA"},
        {"name":"Estonia", "packageId":"bbox(21.5,57.4,28.3,59.8)", "tileZoom":14, "tileCount":86965,
        "chosenClipZoom":11,
        "mask":"wPDDMwM8RcRTxFxFMzxFxFPE1DXUNQAA/BcP9ENED0Q0QD9ENED0Q0QA9fXUNQ11DUA9dQ1DXUNQDX11DUNdQ1APXUNQ11DUAD/0Q0QPRDRAP0Q0AAAAAAAA", "maxZoom":14, "wire":"wPDDMwM8RcRTxFxFMzxFxFPE1DXUNQAA/BcP9ENED0Q0QD9ENED0Q0QA9fXUNQ11DUA9dQ1DXUNQDX11DUNdQ1APXUNQ11DUAD/0Q0QPRDRAP0Q0AAAAAAAA:14", "urlSafe":"wPDDMwM8RcRTxFxFMzxFxFPE1DXUNQAA_BcP9ENED0Q0QD9ENED0Q0QA9fXUNQ11DUA9dQ1DXUNQDX11DUNdQ1APXUNQ11DUAD_0Q0QPRDRAP0Q0AAAAAAAA"},
        {"name":"Poland", "packageId":"bbox(14.0,49.0,24.2,54.9)", "tileZoom":14,
        "result":"too many tiles (>250000): no package"}
        ],
        "status": [
        {"mask":"wPDA8PAzEAAAAAAA", "maxZoom":14, "tiles":{"0/0/0":"FULL", "1/1/1":"FULL", "1/0/0":"MISSING",
        "10/583/724":"FULL", "10/584/724":"MISSING", "14/9330/11587":"FULL", "14/9331/11587":"FULL",
        "14/9343/11599":"FULL", "14/9344/11599":"MISSING", "15/18660/23174":"MISSING"}},
        {"mask":"QAAA", "maxZoom":0, "tiles":{"0/0/0":"FULL", "1/0/0":"MISSING"}},
        {"mask":"QAAA", "maxZoom":14, "tiles":{"0/0/0":"FULL", "14/16383/0":"FULL", "15/0/0":"MISSING"}},
        {"mask":"AAAA", "maxZoom":14, "tiles":{"0/0/0":"MISSING", "5/3/3":"MISSING"}},
        {"mask":"wzAzAzAzDMwUTEfwXBV8FwVVPMTUA9dQ1DXUNQAAAPDw8PD8FwVfBcFVQ_XUNQ11DUAAAAAAAAAA", "maxZoom":14,
        "tiles":{"12/2043/2734":"FULL", "12/2050/2734":"FULL", "14/8188/10940":"FULL"}}
        ],
        "decode": [
        {"input":"QA==", "maxZoom":14, "tiles":{"0/0/0":"FULL", "3/1/1":"FULL"}},
        {"input":"kAAA", "maxZoom":14, "tiles":{"0/0/0":"MISSING", "1/0/0":"FULL", "1/1/0":"MISSING", "2/0/0":"FULL"}}
        ]
        }
        """#
}
