package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
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

const explainedHead = "\n## Explained differences\n\n"

// truthRest begins what the file says of other tests.
const truthRest = "<!-- proxies -->\n"

// writeTruth writes the figures, in the order of peers. Those of peers that were not compared stay as they are in the file, and so does what others
// write.
func writeTruth(path string, rows []row) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ours, rest, others := strings.Cut(string(text), truthRest)
	if others {
		rest = "\n" + truthRest + rest
	}
	var figures, explained strings.Builder
	for _, p := range peers() {
		at := slices.IndexFunc(rows, func(r row) bool { return r.run.peer.Name == p.Name })
		if at >= 0 {
			rows[at].write(&figures, &explained)
			continue
		}
		campaign.CopyFigures(ours, p.Name, &figures, &explained)
	}
	return os.WriteFile(path, []byte(truthHead+figures.String()+explainedHead+cmp.Or(explained.String(), "There are none.\n")+rest), 0o644)
}

// write writes the figures of one peer, and the differences that are explained.
func (r row) write(figures, explained *strings.Builder) {
	t := r.tally
	fmt.Fprintf(figures, "| %s | %s %s | %d | %d | %.2f %% | %d | %d |\n", r.run.peer.Name, r.run.peer.Module, r.run.version,
		t.Inputs-t.Refused, t.Facts, t.PercentOf(t.Facts), t.CountOpen(), t.Explained)
	t.WriteExplained(explained, r.run.peer.Name)
}
