// Package merge folds an ordered stack of layers into one result, keeping for every setting who set
// it and who lost.
//
// The settings of a policy are units: a path below the settings root and a JSON value. A layer is
// one policy at one place of a path, with up to three blocks of units; a Stack orders the layers,
// established first (the least specific policy). Fold merges them from the last to the first: at
// every step the incoming layer is the higher one, and its strategy decides (engine E2-E4).
//
// A strategy is two choices: who wins a clash (the lower side: defaults; the higher: overrides;
// both: union) and where the two sides are cut before they are compared (whole: atomic; at the
// kind's rules: merge; at RFC 7386 leaves: patch). Two paths clash if they are equal or one is a
// prefix of the other.
//
// The result of a fold is a layer again. Kinds that merge in groups state a tree of folds, the Plan
// (engine E16).
//
// Every step writes one Effect per unit it met. Losses are read off these effects, so the trace and
// the provenance cannot disagree (engine E10). Fold is a pure function of its arguments (engine
// E12). The package knows no reference and no graph: a source is a position in the stack, which the
// caller turns into names. What decided between two policies is for the caller to say as well,
// while the fold lasts (Decide): losses carry it.
//
// The package exports more than 60 names because reasons, criteria, outcomes and strategies are
// closed sets of constants that whole programs read.
package merge
