package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// cause is one sort of reason why a setting is not in force; several are a set of bits.
type cause uint16

const (
	above       cause = 1 << iota // something less specific overrides it
	below                         // a default that gives way to something more specific
	sameTarget                    // another policy of the same target comes first
	ownBlock                      // another part of the policy itself has it
	builtin                       // a setting that no policy wrote and none may beat
	condition                     // the condition of the block is not met
	deactivated                   // something more specific deactivates the default
	unread                        // nothing of the sort is read at this place
	shadowed                      // something earlier in a list always decides
)

// causeOf is the cause behind a reason. Conflicts and errors have none: findings of their own tell of them.
var causeOf = map[merge.Reason]cause{
	merge.LessSpecificOverrides: above, merge.AtomicOverridden: above,
	merge.MoreSpecificWins: below, merge.AtomicReplaced: below,
	merge.SameLevelOrder: sameTarget, merge.BuiltInWins: builtin, merge.Unset: deactivated, merge.ConditionFalse: condition,
	merge.NoEffect: unread, merge.Ignored: unread, merge.Shadowed: shadowed,
}

// waiting are the causes for which nobody is to blame: defaults are there to give way, and conditions to be met one day.
const waiting = below | condition | deactivated

// causes are why a setting is nowhere in force, with what is said of each, and whether something else tells more: a loss that another finding
// explains, or whose reason is not known.
type causes struct {
	set     cause
	why     map[cause]*explain.Losses
	silent  bool // another finding says so, or nobody knows
	unknown bool // it may be in force
}

// of is what is said of one cause.
func (c *causes) of(bit cause) *explain.Losses {
	if c.why == nil {
		c.why = map[cause]*explain.Losses{}
	}
	if c.why[bit] == nil {
		c.why[bit] = &explain.Losses{}
	}
	c.set |= bit
	return c.why[bit]
}

func (c *causes) join(o causes) {
	c.silent, c.unknown = c.silent || o.silent, c.unknown || o.unknown
	for bit := above; bit <= shadowed; bit <<= 1 {
		if o.set&bit != 0 {
			c.of(bit).Join(*o.why[bit])
		}
	}
}

// quiet takes out the causes that another finding tells.
func (c *causes) quiet(told func(cause) bool) {
	for bit := above; bit <= shadowed; bit <<= 1 {
		if c.set&bit != 0 && told(bit) {
			c.set &^= bit
			c.silent = true
		}
	}
}

// severity is that of a finding with these causes.
func (c *causes) severity() model.Severity {
	if c.set&^waiting == 0 {
		return model.Info
	}
	return model.Warning
}

// sentence says why, in one clause after a colon.
func (c *causes) sentence() string {
	var parts []string
	for bit := above; bit <= shadowed; bit <<= 1 {
		if c.set&bit != 0 {
			parts = append(parts, c.why[bit].String())
		}
	}
	return strings.Join(parts, "; ")
}

// add adds the cause of one loss.
func (c *causes) add(r *resolve.Resolution, o *resolve.Verdict, l *merge.Loss) {
	own := o.Layers[l.From.Layer].Policy.Base()
	bit := causeOf[l.Reason]
	switch {
	case l.Reason == merge.NotEvaluated:
		c.unknown = true
		return
	case bit == 0 || bit == condition && unjudged(o, l):
		c.silent = true
		return
	case bit == shadowed:
	case len(l.To) > 0 && !slices.ContainsFunc(l.To, func(w merge.Winner) bool { return o.Layers[w.Layer].Policy.Base() != own }):
		bit = ownBlock
	case l.Reason == merge.NoEffect && len(l.To) > 0: // it counts as not set
		bit = below
	}
	c.of(bit).Add(r, o, l)
}

// unjudged reports whether the condition that was not met cannot be judged, which is a finding of its own.
func unjudged(o *resolve.Verdict, l *merge.Loss) bool {
	when, ok := l.When.(*expression.Condition)
	return ok && when.Err() != nil || l.Step >= 0 && o.Result.Trace[l.Step].Err != nil
}

// byRule sorts losses by block and rule.
func byRule(a, b lost) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.block, b.block), strings.Compare(a.rule, b.rule))
}
