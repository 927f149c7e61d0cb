package cli

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
)

// catalogueFormats are the forms in which the catalogue of findings can be had.
var catalogueFormats = []string{"table", "wide", "yaml", "json", "name"}

// listFindings lists what can be found, or explains the ids given.
func (f *checkFlags) listFindings(s Streams, ids []string) error {
	if f.parsed == nil && !slices.Contains(catalogueFormats, f.format) {
		return newUsageError("use one of: table, wide, yaml, json, name", "--list cannot be written as %s", f.format)
	}
	reqs, err := f.loadRequirements(check.Config{})
	if err != nil {
		return err
	}
	all := f.findingCatalogue().With(reqs)
	for _, id := range ids {
		if _, known := all.Rule(id); !known {
			return f.unknownFinding(id)
		}
	}
	list := all.List(ids)
	return f.writeOnly(s, &session{flags: &f.sourceFlags}, "", list, &list.Envelope)
}
