package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
)

// row is what the figures say of one vendor.
type row struct {
	run   *run
	tally *tally
}

// The marks in the file between which the figures are: the rest of it is of others.
const (
	truthStart = "<!-- proxies -->\n"
	truthEnd   = "<!-- /proxies -->\n"
)

const truthHead = `
## Requests at real proxies

Random worlds of Gateways, routes and requests: what ` + "`request`" + ` says for certain, compared with what the proxy of the implementation does with the same request.
` + "`make test-proxies`" + ` draws the worlds and asks the proxies; [test/proxies](../test/proxies/README.md) says how. Rows with policies: what ` + "`request --expect authentication`" + `, ` + "`rateLimit`" + ` and
the statuses that may be answered say of requests, compared with what becomes of them without credentials, with wrong ones and with good ones.

| implementation | version | worlds | refused by the proxy | requests | conditional | agree | open | explained |
|---|---|---|---|---|---|---|---|---|
`

// writeTruth writes the figures, in the order of vendors. Those of vendors that were not asked stay as they are in the file.
func writeTruth(path string, rows []row) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, _ := strings.Cut(string(text), truthStart)
	old, after, _ := strings.Cut(rest, truthEnd)
	var figures, explained strings.Builder
	for _, v := range vendors() {
		for _, name := range []string{v.Name, v.Name + withPolicies} {
			at := slices.IndexFunc(rows, func(r row) bool { return r.name() == name })
			if at >= 0 {
				rows[at].write(&figures, &explained)
				continue
			}
			campaign.CopyFigures(old, name, &figures, &explained)
		}
	}
	out := before + truthStart + truthHead + figures.String() + "\nExplained differences:\n\n" + cmp.Or(explained.String(), "- There are none.\n") + truthEnd + after
	return os.WriteFile(path, []byte(out), 0o644)
}

// withPolicies is what the name of a row has behind it where policies were asked.
const withPolicies = ", policies"

func (r row) name() string {
	if r.run.policies {
		return r.run.vendor.Name + withPolicies
	}
	return r.run.vendor.Name
}

// write writes the figures of one vendor, and the differences that are explained.
func (r row) write(figures, explained *strings.Builder) {
	t := r.tally
	fmt.Fprintf(figures, "| %s | %s %s | %d | %d | %d | %d (%.1f %%) | %.2f %% | %d | %d |\n", r.name(), r.run.vendor.Module, r.run.version,
		t.Worlds-t.Untranslated, t.Refused, t.Requests, t.Conditional, 100*float64(t.Conditional)/float64(max(t.Requests, 1)), t.PercentOf(t.certain()), t.CountOpen(), t.Explained)
	t.WriteExplained(explained, r.name())
}
