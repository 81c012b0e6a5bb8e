internal import AreaFiles
import Errors

/// What the capabilities of a WMTS 1.0.0 say, as far as tile addresses need it (OGC 07-057r7).
package struct WMTSCapabilities: Sendable {
    struct Layer: Sendable {
        var id = ""
        var title = ""
        var abstract = ""
        /// West and south, then east and north, in degrees.
        var corners: [Double] = []
        var styles: [(id: String, isDefault: Bool)] = []
        var formats: [String] = []
        /// Its grids, and the matrices that its limits name; none without limits.
        var links: [(grid: String, matrices: [String])] = []
        var resources: [(format: String, template: String)] = []
        var dimensions: [(id: String, value: String)] = []
    }

    struct Matrix: Sendable {
        var id = ""
        var scale = 0.0
        var corner: [Double] = []
        var width = 0
        var height = 0
    }

    struct Grid: Sendable {
        var id = ""
        var system = ""
        var matrices: [Matrix] = []
    }

    /// The most bytes of capabilities that are read.
    package static let maxBytes = 32 << 20
    /// The most bytes of one text in them that are kept.
    private static let textLimit = 4 << 10

    private(set) var title = ""
    private(set) var layers: [Layer] = []
    private(set) var grids: [Grid] = []
    /// Where tiles are asked for by parameters, and the encodings that the address is for.
    private(set) var addresses: [(url: String, encodings: [String])] = []

    /// The identifiers of the layers.
    package var ids: [String] { layers.map(\.id) }

    /// - Throws: ``TilesetsError`` `.badService` for a document that is no capabilities of a WMTS; the message of an exception is quoted.
    package init(xml: [UInt8]) throws(TilesetsError) {
        if let message = ServiceMessage(in: xml) {
            throw TilesetsError(.badService, "The map service says instead of its capabilities: \(message.text).")
        }
        do throws(AreaFileError) {
            try read(XMLScanner(AreaInput(bytes: xml)))
        } catch {
            throw TilesetsError(.badService, "The WMTS capabilities cannot be read: \(error.message).")
        }
        guard !layers.isEmpty else {
            throw TilesetsError(.badService, "The WMTS capabilities have no layer.")
        }
    }

    private mutating func read(_ xml: XMLScanner) throws(AreaFileError) {
        xml.keepsText = true
        var path: [String] = []
        var text: [UInt8] = []
        var isTileOperation = false
        while true {
            switch try xml.next() {
            case .start:
                path.append(xml.string(xml.name))
                text.removeAll(keepingCapacity: true)
                if path.count == 1 { try Self.check(root: path[0], xml) }
                if path.count == 3, path[2] == "Operation" { isTileOperation = Self.value(xml, "name") == "GetTile" }
                begin(path.dropFirst().joined(separator: "/"), xml, isTileOperation: isTileOperation)
            case .text:
                if text.count < Self.textLimit { text += xml.text }
            case .end:
                let words = xml.string(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
                end(path.dropFirst().joined(separator: "/"), words, isTileOperation: isTileOperation)
                text.removeAll(keepingCapacity: true)
                path.removeLast()
            case .finished: return
            }
        }
    }

    private static func check(root: String, _ xml: XMLScanner) throws(AreaFileError) {
        guard root != "Capabilities" else { return }
        if root == "WMS_Capabilities" || root == "WMT_MS_Capabilities" {
            throw xml.fault(
                "they are those of a WMS, which draws boxes; write a tile URL with request=GetMap and bbox={bbox-epsg-3857}"
            )
        }
        throw xml.fault("the document is <\(root.prefix(60))> and not <Capabilities>; check the address")
    }

    private static func value(_ xml: XMLScanner, _ name: StaticString) -> String? {
        xml.attribute(name).map { xml.string(Array($0)) }
    }

    private mutating func begin(_ path: String, _ xml: XMLScanner, isTileOperation: Bool) {
        switch path {
        case "Contents/Layer": layers.append(Layer())
        case "Contents/TileMatrixSet": grids.append(Grid())
        case "Contents/TileMatrixSet/TileMatrix": grids.edit { $0.matrices.append(Matrix()) }
        case "Contents/Layer/Style":
            let isDefault = Self.value(xml, "isDefault") == "true"
            layers.edit { $0.styles.append(("", isDefault)) }
        case "Contents/Layer/TileMatrixSetLink": layers.edit { $0.links.append(("", [])) }
        case "Contents/Layer/Dimension": layers.edit { $0.dimensions.append(("", "")) }
        case "Contents/Layer/ResourceURL":
            guard Self.value(xml, "resourceType") == "tile", let template = Self.value(xml, "template") else { return }
            let format = Self.value(xml, "format") ?? ""
            layers.edit { $0.resources.append((format, template)) }
        case "OperationsMetadata/Operation/DCP/HTTP/Get":
            guard isTileOperation, let url = Self.value(xml, "href") else { return }
            addresses.append((url, []))
        default: break
        }
    }

    private mutating func end(_ path: String, _ text: String, isTileOperation: Bool) {
        switch path {
        case "ServiceIdentification/Title": title = text
        case "OperationsMetadata/Operation/DCP/HTTP/Get/Constraint/AllowedValues/Value":
            if isTileOperation { addresses.edit { $0.encodings.append(text) } }
        case "Contents/Layer/Title": layers.edit { $0.title = $0.title.isEmpty ? text : $0.title }
        case "Contents/Layer/Abstract": layers.edit { $0.abstract = $0.abstract.isEmpty ? text : $0.abstract }
        case "Contents/Layer/Identifier": layers.edit { $0.id = text }
        case "Contents/Layer/Format": layers.edit { $0.formats.append(text) }
        case "Contents/Layer/Style/Identifier": layers.edit { layer in layer.styles.edit { $0.id = text } }
        case "Contents/Layer/WGS84BoundingBox/LowerCorner", "Contents/Layer/WGS84BoundingBox/UpperCorner":
            layers.edit { $0.corners += Self.numbers(text) }
        case "Contents/Layer/TileMatrixSetLink/TileMatrixSet":
            layers.edit { layer in layer.links.edit { $0.grid = text } }
        case "Contents/Layer/TileMatrixSetLink/TileMatrixSetLimits/TileMatrixLimits/TileMatrix":
            layers.edit { layer in layer.links.edit { $0.matrices.append(text) } }
        case "Contents/Layer/Dimension/Identifier": layers.edit { layer in layer.dimensions.edit { $0.id = text } }
        case "Contents/Layer/Dimension/Default": layers.edit { layer in layer.dimensions.edit { $0.value = text } }
        case "Contents/TileMatrixSet/Identifier": grids.edit { $0.id = text }
        case "Contents/TileMatrixSet/SupportedCRS": grids.edit { $0.system = text }
        default: endMatrix(path, text)
        }
    }

    private mutating func endMatrix(_ path: String, _ text: String) {
        let prefix = "Contents/TileMatrixSet/TileMatrix/"
        guard path.hasPrefix(prefix) else { return }
        grids.edit { grid in
            grid.matrices.edit { matrix in
                switch path.dropFirst(prefix.count) {
                case "Identifier": matrix.id = text
                case "ScaleDenominator": matrix.scale = Double(text) ?? 0
                case "TopLeftCorner": matrix.corner = Self.numbers(text)
                case "TileWidth": matrix.width = Int(text) ?? 0
                case "TileHeight": matrix.height = Int(text) ?? 0
                default: break
                }
            }
        }
    }

    private static func numbers(_ text: String) -> [Double] {
        text.split { $0 == " " || $0 == "," }.compactMap { Double($0) }
    }
}

extension Array {
    /// Changes the last element, if there is one.
    fileprivate mutating func edit(_ change: (inout Element) -> Void) {
        guard !isEmpty else { return }
        change(&self[count - 1])
    }
}
