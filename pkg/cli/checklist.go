package cli

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// catalogueFormats are the forms in which the catalogue of findings can be had.
var catalogueFormats = []string{"table", "wide", "yaml", "json", "name"}

// catalogue lists what can be found, or explains the ids given.
func (f *checkFlags) catalogue(s Streams, ids []string) error {
	if f.parsed == nil && !slices.Contains(catalogueFormats, f.format) {
		return usage("use one of: table, wide, yaml, json, name", "--list cannot be written as %s", f.format)
	}
	reqs, err := f.required(check.Config{})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, known := check.RuleOf(id); !known && !slices.ContainsFunc(reqs, func(r *requirement.Requirement) bool { return string(r.Code()) == id }) {
			return unknownFinding(id)
		}
	}
	list := check.NewRuleList(ids, reqs)
	return f.writeOnly(s, &session{flags: &f.sourceFlags}, "", list, &list.Envelope)
}
