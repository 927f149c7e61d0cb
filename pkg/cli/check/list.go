package check

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// catalogueFormats are the forms in which the catalogue of findings can be had.
var catalogueFormats = []string{"table", "wide", "yaml", "json", "name"}

// listFindings lists what can be found, or explains the ids given.
func (f *Options) listFindings(s run.Streams, ids []string) error {
	if f.Query.Output.Template.Parsed == nil && !slices.Contains(catalogueFormats, f.Query.Output.Format) {
		return failure.Usage("use one of: table, wide, yaml, json, name", "--list cannot be written as %s",
			f.Query.Output.Format)
	}
	reqs, err := f.Findings.LoadRequirements(check.Config{})
	if err != nil {
		return err
	}
	all := f.Findings.Catalogue().With(reqs)
	for _, id := range ids {
		if _, known := all.Rule(id); !known {
			return f.Findings.UnknownError(id)
		}
	}
	list := all.List(ids)
	return f.Query.Output.WriteOnly(s, &source.Session{Flags: &f.Query.Source}, "", list, &list.Envelope)
}
