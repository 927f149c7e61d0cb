package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// failing are the classes of a rule for which the property does not hold.
type failing struct {
	taker   topology.NodeID // the rule that takes them
	n       int
	least   *space.Class // of which the request is the smallest; nil: it is known that it is not shown
	size    size         // of that request
	because string       // beside the rule that takes it
	reasons []protect.Reason
}

// size is by what requests are ordered: what less has to be sent for comes first.
type size struct {
	unusual int
	text    string
}

func sizeOf(r *request.Request) size {
	n := len(r.Headers) + len(r.Query)
	if r.Method != "GET" {
		n++
	}
	if strings.HasPrefix(r.Host, "any") { // no host that is named
		n++
	}
	return size{n, r.Text}
}

// smaller orders requests.
func smaller(a, b *request.Request) bool { return compareSize(a, b) < 0 }

func compareSize(a, b *request.Request) int { return sizeOf(a).compare(sizeOf(b)) }

func (s size) compare(o size) int {
	return cmp.Or(s.unusual-o.unusual, len(s.text)-len(o.text), strings.Compare(s.text, o.text))
}

func (f *failing) compare(o *failing) int {
	return cmp.Or(f.size.compare(o.size), cmp.Compare(f.taker, o.taker))
}

// failures are what fails, by the rule that takes it. Only as many classes are kept as are shown, and some more, and without their answers.
type failures struct {
	of    map[topology.NodeID]*failing
	n     int      // classes in all
	kept  int      // rules with a class
	bound *failing // the last of those that were shown if there were no more; nil: there were not too many yet
}

// add notes a class that a rule takes.
func (all *failures) add(c *space.Class, because string, reasons ...protect.Reason) {
	all.note(&failing{taker: c.Answer.Rule, n: 1, least: c, size: sizeOf(&c.Request), because: because, reasons: reasons}, true)
}

// note notes classes that a rule takes. A passing class has to be copied to be kept.
func (all *failures) note(more *failing, passing bool) {
	all.n += more.n
	f := all.of[more.taker]
	if f == nil {
		if all.of == nil {
			all.of = map[topology.NodeID]*failing{}
		}
		f = &failing{taker: more.taker}
		all.of[more.taker] = f
	}
	first := f.n == 0
	f.n += more.n
	if !first && more.compare(f) >= 0 {
		return
	}
	f.size, f.because, f.reasons = more.size, more.because, more.reasons
	if f.least != nil {
		f.least = nil
		all.kept--
	}
	if more.least == nil || all.bound != nil && f.compare(all.bound) > 0 {
		return
	}
	f.least = more.least
	if passing {
		f.least = more.least.Copy()
		f.least.Answer = nil
	}
	if all.kept++; all.kept > 4*mostCounterexamples {
		all.forget()
	}
}

// forget drops the classes that are not shown: a rule whose smallest request is not among the smallest can only come back with a smaller one.
func (all *failures) forget() {
	kept := all.smallest()
	last := *kept[mostCounterexamples-1]
	last.least = nil
	all.bound = &last
	for _, f := range kept[mostCounterexamples:] {
		f.least = nil
	}
	all.kept = mostCounterexamples
}

// smallest are those with a class, the one with the smallest request first.
func (all *failures) smallest() []*failing {
	var out []*failing
	for _, f := range all.of {
		if f.least != nil {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *failing) int { return a.compare(b) })
	return out
}
