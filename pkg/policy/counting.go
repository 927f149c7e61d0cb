package policy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Counting says who shares a counter of a limit: one for each route, host, proxy or the like.
type Counting struct {
	At   []string // the settings it is about, with all below them; "*" stands for any name
	Text string   // completes "is counted"
}

// FindCounting says who shares the counters of a limit, given a setting in force with its value; nil if
// it has no limit, or nothing is known of that.
func (k *Kind) FindCounting(at merge.Path, value any) *Counting {
	for i := range k.Counts {
		if k.Counts[i].isAbout(at, value) {
			return &k.Counts[i]
		}
	}
	return nil
}

// isAbout reports whether the text is about a setting, or about a part of its value.
func (c *Counting) isAbout(at merge.Path, value any) bool {
	for i, name := range c.At {
		if i >= len(at) {
			return model.Get(merge.Unpack(value), c.At[i:]...) != nil
		}
		if name != "*" && name != at[i].Name {
			return false
		}
	}
	return true
}
