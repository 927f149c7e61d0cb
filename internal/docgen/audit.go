package main

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// auditTables are the fields of all mappings: what is compared of each, and then what is not.
func auditTables() string {
	var out strings.Builder
	for _, m := range plugin.Mappings(plugins.All()) {
		fmt.Fprintf(&out,
			"### %s\n\n| policy kind | setting | where it lands | compared | note |\n|---|---|---|---|---|\n", m.Vendor)
		for _, f := range m.Fields {
			if f.How != audit.NotCompared {
				fmt.Fprintf(&out, "| %s | `%s` | %s | by %s | %s |\n", f.Kind.Kind, f.Setting, f.Location,
					f.How, f.Note)
			}
		}
		out.WriteString("\nNot compared:\n\n| policy kind | setting | where it lands | why |\n|---|---|---|---|\n")
		for _, f := range m.Fields {
			if f.How == audit.NotCompared {
				fmt.Fprintf(&out, "| %s | `%s` | %s | %s |\n", f.Kind.Kind, f.Setting, f.Location, f.Note)
			}
		}
		for _, k := range m.PatchingKinds {
			fmt.Fprintf(&out,
				"| %s | all | anywhere | it may change anything: where there is one, no difference is judged |\n",
				k.Kind)
		}
		out.WriteString("\n")
	}
	return out.String()
}
