package cli

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
)

// catalogueFormats are the forms in which the catalogue of findings can be had.
var catalogueFormats = []string{"table", "wide", "yaml", "json", "name"}

// listFindings lists what can be found, or explains the ids given.
func (f *checkOptions) listFindings(s Streams, ids []string) error {
	if f.Query.Output.template.parsed == nil && !slices.Contains(catalogueFormats, f.Query.Output.format) {
		return newUsageError("use one of: table, wide, yaml, json, name", "--list cannot be written as %s", f.Query.Output.format)
	}
	reqs, err := f.Findings.loadRequirements(check.Config{})
	if err != nil {
		return err
	}
	all := f.Findings.findingCatalogue().With(reqs)
	for _, id := range ids {
		if _, known := all.Rule(id); !known {
			return f.Findings.unknownFinding(id)
		}
	}
	list := all.List(ids)
	return f.Query.Output.writeOnly(s, &session{flags: &f.Query.Source}, "", list, &list.Envelope)
}
