package prove

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// failingRule holds the classes of a rule for which the property does not hold.
type failingRule struct {
	rule     topology.NodeID // the rule that takes them
	classes  int
	smallest *space.Class  // the class with the smallest request; nil: it will not be shown
	size     requests.Size // of that request
	because  string        // beside the rule that takes it
	reasons  []protect.Reason
}

func (f *failingRule) compare(o *failingRule) int {
	return cmp.Or(f.size.Compare(o.size), cmp.Compare(f.rule, o.rule))
}

// failingRules holds what fails, by the rule that takes it. It keeps only as many classes as are
// shown and some more, without their answers.
type failingRules struct {
	byRule    map[topology.NodeID]*failingRule
	classes   int          // classes in all
	kept      int          // rules with a class
	lastShown *failingRule // the last one that would be shown now; nil: there were not too many yet
}

// add notes a class that a rule takes.
func (all *failingRules) add(c *space.Class, because string, reasons ...protect.Reason) {
	all.addClasses(&failingRule{rule: c.Answer.Rule, classes: 1, smallest: c, size: requests.SizeOf(&c.Request),
		because: because, reasons: reasons}, true)
}

// addClasses adds classes that a rule takes. A class whose memory is used again (passing) is copied
// if it is kept.
func (all *failingRules) addClasses(more *failingRule, passing bool) {
	all.classes += more.classes
	f := all.byRule[more.rule]
	if f == nil {
		if all.byRule == nil {
			all.byRule = map[topology.NodeID]*failingRule{}
		}
		f = &failingRule{rule: more.rule}
		all.byRule[more.rule] = f
	}
	first := f.classes == 0
	f.classes += more.classes
	if !first && more.compare(f) >= 0 {
		return
	}
	f.size, f.because, f.reasons = more.size, more.because, more.reasons
	if f.smallest != nil {
		f.smallest = nil
		all.kept--
	}
	if more.smallest == nil || all.lastShown != nil && f.compare(all.lastShown) > 0 {
		return
	}
	f.smallest = more.smallest
	if passing {
		f.smallest = more.smallest.Copy()
		f.smallest.Answer = nil
	}
	if all.kept++; all.kept > 4*mostCounterexamples {
		all.dropUnshown()
	}
}

// dropUnshown drops the classes that are not shown: a rule whose smallest request is not among the
// smallest can only come back with a smaller one.
func (all *failingRules) dropUnshown() {
	kept := all.sortBySize()
	last := *kept[mostCounterexamples-1]
	last.smallest = nil
	all.lastShown = &last
	for _, f := range kept[mostCounterexamples:] {
		f.smallest = nil
	}
	all.kept = mostCounterexamples
}

// sortBySize returns the rules with a class, the one with the smallest request first.
func (all *failingRules) sortBySize() []*failingRule {
	var out []*failingRule
	for _, f := range all.byRule {
		if f.smallest != nil {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *failingRule) int { return a.compare(b) })
	return out
}
