public import CatalogFormat
public import Foundation

/// What a person orders for the packages of a catalog: a promotion or a rollback.
public struct CatalogOrder: Sendable {
    /// What is ordered.
    public enum Kind: Sendable {
        /// Packages of the catalog in this folder become the listed ones, unless one loses a larger share of its tiles or
        /// bytes than allowed.
        case promotion(from: URL, maxShrink: Double)
        /// Earlier versions become the listed ones; `nil` = those before the last promotion.
        case rollback(to: Int32?)
    }

    /// What is ordered.
    public var kind: Kind
    /// Which packages.
    public var selection: CatalogSelection
    /// Whether a promotion may replace packages of another tileset.
    public var replacesTileset = false
    /// Whether a promotion may replace packages of another area.
    public var replacesArea = false
    /// Whether nothing is changed, and only the plan is reported.
    public var isDry = false

    /// Makes an order from what every order has; the rest is set afterwards.
    public init(_ kind: Kind, of selection: CatalogSelection) {
        (self.kind, self.selection) = (kind, selection)
    }
}

extension Catalog {
    /// Carries an order out: plans it, cuts tile packs, and makes the change as a whole.
    ///
    /// - Returns: The plan, whose difference says what was changed.
    /// - Throws: `CatalogError` of ``planPromotion(of:from:maxShrink:options:settles:)``,
    ///   ``planRollback(of:to:settles:)`` and ``apply(_:)``, and what `maker` throws; nothing is changed then.
    public func carryOut(_ order: CatalogOrder, cutting maker: PackMaker) throws -> CatalogPlan {
        if !order.isDry { try checkMaySign() }
        let plan =
            switch order.kind {
            case .promotion(let staging, let most):
                try planPromotion(
                    of: order.selection, from: try Catalog(staging, create: false), maxShrink: most,
                    options: order.options, settles: !order.isDry)
            case .rollback(let version):
                try planRollback(of: order.selection, to: version, settles: !order.isDry)
            }
        guard !order.isDry else { return plan }
        var done = try cut(plan, with: maker)
        done.difference = try apply(done)
        return done
    }
}

extension CatalogDifference {
    /// What differs between packages of two catalogs; their lists are read without a lock.
    ///
    /// - Throws: `missing-package` for an id that none of them has; `catalog-corrupt`, `io`.
    public init(new: Catalog, old: Catalog, of selection: CatalogSelection) throws(CatalogError) {
        let (lists, others) = (try new.lists(), try old.lists())
        var both = lists
        for (edition, entries) in others { both[edition, default: []] += entries }
        _ = try selection.choose(from: both, named: "\(new.folder.path)' and '\(old.folder.path)")
        self.init(new: selection.filter(lists), old: selection.filter(others))
    }
}

extension CatalogOrder {
    fileprivate var options: PublishOptions {
        var options = PublishOptions()
        (options.replacesTileset, options.replacesArea) = (replacesTileset, replacesArea)
        return options
    }
}
