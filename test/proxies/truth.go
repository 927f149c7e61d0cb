package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
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
			for line := range strings.Lines(old) {
				switch {
				case strings.HasPrefix(line, "| "+name+" |"):
					figures.WriteString(line)
				case strings.HasPrefix(line, "- **"+name+"**"):
					explained.WriteString(line)
				}
			}
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
	agree := 100.0
	if t.certain() > 0 {
		agree = 100 * float64(t.certain()-t.Different) / float64(t.certain())
	}
	fmt.Fprintf(figures, "| %s | %s %s | %d | %d | %d | %d (%.1f %%) | %.2f %% | %d | %d |\n", r.name(), r.run.vendor.Module, r.run.version,
		t.Worlds-t.Untranslated, t.Refused, t.Requests, t.Conditional, 100*float64(t.Conditional)/float64(max(t.Requests, 1)), agree, t.open(), t.Explained)
	for _, f := range slices.SortedFunc(maps.Values(t.Classes), func(a, b *found) int { return cmp.Compare(a.Signature, b.Signature) }) {
		if f.Known == nil {
			continue
		}
		fmt.Fprintf(explained, "- **%s**, %d times: %s", r.name(), f.Count, f.Known.Reason)
		if f.Known.Where != "" {
			fmt.Fprintf(explained, " (%s)", f.Known.Where)
		}
		explained.WriteString("\n")
	}
}
