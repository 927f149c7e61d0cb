package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
)

// row is what the figures say of one peer.
type row struct {
	run   *run
	tally *tally
}

const truthHead = `# Held against the vendors' own code

Random inputs, answered by this program and by code that the vendors release. ` + "`make differential`" + ` draws the inputs, compares every fact and
writes this page; [test/differential](../test/differential/README.md) says how. Inputs are small: a few Gateways, routes, pods and policies.

| peer | version | inputs | facts compared | agree | open | explained |
|---|---|---|---|---|---|---|
`

// writeTruth writes the figures of all peers.
func writeTruth(path string, rows []row) error {
	var out bytes.Buffer
	out.WriteString(truthHead)
	for _, r := range rows {
		t := r.tally
		agree := 100.0
		if t.Facts > 0 {
			agree = 100 * float64(t.Facts-t.Different) / float64(t.Facts)
		}
		fmt.Fprintf(&out, "| %s | %s %s | %d | %d | %.2f %% | %d | %d |\n", r.run.peer.name, r.run.peer.module, r.run.version, t.Inputs-t.Refused, t.Facts, agree, t.open(), t.Explained)
	}
	out.WriteString("\n## Explained differences\n\n")
	none := true
	for _, r := range rows {
		for _, f := range slices.SortedFunc(maps.Values(r.tally.Classes), func(a, b *found) int { return cmp.Compare(a.Signature, b.Signature) }) {
			if f.Known != nil {
				none = false
				fmt.Fprintf(&out, "- **%s**, %d times: %s", r.run.peer.name, f.Count, f.Known.Reason)
				if f.Known.Where != "" {
					fmt.Fprintf(&out, " (%s)", f.Known.Where)
				}
				out.WriteString("\n")
			}
		}
	}
	if none {
		out.WriteString("There are none.\n")
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
