package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Finding is one class of differences: the first input that has it.
type Finding[Input, Difference any] struct {
	Signature string
	Seed      int64
	Count     int
	First     Difference
	Input     Input
	Known     *Class
}

// Findings are the differences that a run found, by class.
type Findings[Input, Difference any] struct {
	Different int
	Explained int // of those that differ
	Classes   map[string]*Finding[Input, Difference]
}

// Add counts a difference with its class.
func (f *Findings[Input, Difference]) Add(known []Class, peer, signature string, seed int64, in Input, d Difference) {
	f.Different++
	class := findClass(known, peer, signature)
	if class != nil {
		f.Explained++
		signature = class.Signature
	}
	if f.Classes == nil {
		f.Classes = map[string]*Finding[Input, Difference]{}
	}
	one := f.Classes[signature]
	if one == nil || seed < one.Seed {
		count := 0
		if one != nil {
			count = one.Count
		}
		one = &Finding[Input, Difference]{Signature: signature, Seed: seed, Count: count, First: d, Input: in, Known: class}
		f.Classes[signature] = one
	}
	one.Count++
}

// CountOpen counts the differences that no class explains.
func (f *Findings[Input, Difference]) CountOpen() int { return f.Different - f.Explained }

// Sort returns the classes by their signatures.
func (f *Findings[Input, Difference]) Sort() []*Finding[Input, Difference] {
	return slices.SortedFunc(maps.Values(f.Classes), func(a, b *Finding[Input, Difference]) int {
		return cmp.Compare(a.Signature, b.Signature)
	})
}

// PrintNew prints the classes that nothing explains and that were not printed before.
func (f *Findings[Input, Difference]) PrintNew(peer string, printed map[string]bool) {
	for signature, one := range f.Classes {
		if one.Known == nil && !printed[signature] {
			printed[signature] = true
			fmt.Fprintf(os.Stderr, "%s: seed %d: %s\n", peer, one.Seed, signature)
		}
	}
}

// WriteExplained writes the differences that are explained, a line each.
func (f *Findings[Input, Difference]) WriteExplained(out *strings.Builder, name string) {
	for _, one := range f.Sort() {
		if one.Known == nil {
			continue
		}
		fmt.Fprintf(out, "- **%s**, %d times: %s", name, one.Count, one.Known.Reason)
		if one.Known.Where != "" {
			fmt.Fprintf(out, " (%s)", one.Known.Where)
		}
		out.WriteString("\n")
	}
}

// CopyFigures copies what a file says of a peer that was not compared: its row of figures, and its differences that are explained.
func CopyFigures(old, name string, figures, explained *strings.Builder) {
	for line := range strings.Lines(old) {
		switch {
		case strings.HasPrefix(line, "| "+name+" |"):
			figures.WriteString(line)
		case strings.HasPrefix(line, "- **"+name+"**"):
			explained.WriteString(line)
		}
	}
}

// PercentOf returns which share of all has no difference, in per cent.
func (f *Findings[Input, Difference]) PercentOf(all int) float64 {
	if all == 0 {
		return 100
	}
	return 100 * float64(all-f.Different) / float64(all)
}
