package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
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

// waiting are the causes for which nobody is to blame: defaults are there to give way, and conditions to be met one day.
const waiting = below | condition | deactivated

// causes are why a setting is nowhere in force, with the names that belong to each, and whether something else tells more: a loss that
// another finding explains, or whose reason is not known.
type causes struct {
	set     cause
	names   map[cause][]string
	silent  bool // another finding says so, or nobody knows
	unknown bool // it may be in force
}

func (c *causes) add(k cause, names ...string) {
	c.set |= k
	if c.names == nil {
		c.names = map[cause][]string{}
	}
	for _, name := range names {
		if !slices.Contains(c.names[k], name) {
			c.names[k] = append(c.names[k], name)
		}
	}
}

func (c *causes) join(o causes) {
	c.silent, c.unknown = c.silent || o.silent, c.unknown || o.unknown
	for bit := above; bit <= shadowed; bit <<= 1 {
		if o.set&bit != 0 {
			c.add(bit, o.names[bit]...)
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
func (c *causes) sentence(k *policy.Kind) string {
	var parts []string
	for bit := above; bit <= shadowed; bit <<= 1 {
		if c.set&bit == 0 {
			continue
		}
		slices.Sort(c.names[bit])
		names := few(c.names[bit])
		switch {
		case bit == above:
			parts = append(parts, "overridden by "+names)
		case bit == below && !k.Leveled():
			parts = append(parts, "set again by "+names) // each with what makes it stronger
		case bit == below:
			parts = append(parts, "a default that gives way to "+names)
		case bit == sameTarget:
			parts = append(parts, names)
		case bit == ownBlock:
			parts = append(parts, "the policy itself sets it again")
		case bit == builtin:
			parts = append(parts, names+" beats policies")
		case bit == condition && names == "":
			parts = append(parts, "its condition is not met")
		case bit == condition:
			parts = append(parts, "its condition is not met ("+names+")")
		case bit == deactivated:
			parts = append(parts, "deactivated by "+names)
		case bit == shadowed:
			parts = append(parts, names+" always decides before")
		case bit == unread:
			parts = append(parts, "it changes nothing there")
		}
	}
	return strings.Join(parts, "; ")
}

// ownWhere names the parts of a policy among layers.
func ownWhere(to []merge.From, o *resolve.Outcome, own *policy.Policy) (out []string) {
	for _, f := range to {
		if p := o.Layers[f.Layer].Policy; p.Base() == own {
			out = append(out, "its own "+cmp.Or(p.Part, "rule"))
		}
	}
	return out
}

// why is the cause of one loss.
func why(o *resolve.Outcome, l merge.Loss) causes {
	var c causes
	var others []string
	own := o.Layers[l.From.Layer].Policy.Base()
	for _, to := range l.To {
		w := o.Layers[to.Layer]
		switch {
		case w.Policy.Base() == own:
			c.add(ownBlock)
		case w.Policy.Builtin != "":
			others = append(others, w.Policy.Builtin+" of "+w.Policy.Ref().String())
		default:
			others = append(others, w.Policy.Ref().String())
		}
	}
	if l.Reason == merge.Shadowed {
		c.set = 0
		c.add(shadowed, append(others, ownWhere(l.To, o, own)...)...)
		return c
	}
	if c.set != 0 && len(others) == 0 {
		return c
	}
	c.set, c.names = 0, nil
	switch l.Reason {
	case merge.LessSpecificOverrides, merge.AtomicOverridden:
		c.add(above, others...)
	case merge.MoreSpecificWins, merge.AtomicReplaced:
		if !o.Layers[l.From.Layer].Policy.Kind.Leveled() {
			others = stronger(o, l)
		}
		c.add(below, others...)
	case merge.SameLevelOrder:
		c.add(sameTarget, rivals(o, l)...)
	case merge.BuiltInWins:
		c.add(builtin, others...)
	case merge.Unset:
		c.add(deactivated, others...)
	case merge.ConditionFalse:
		unmet(&c, o, l)
	case merge.NoEffect:
		if c.add(unread); len(others) > 0 { // it is as good as not set
			c.set, c.names = 0, nil
			c.add(below, others...)
		}
	case merge.Ignored:
		c.add(unread)
	case merge.NotEvaluated:
		c.unknown = true
	default: // conflicts and errors have findings of their own
		c.silent = true
	}
	return c
}

// stronger are the winners in an order that does not know levels, with what puts them last.
func stronger(o *resolve.Outcome, l merge.Loss) []string {
	var out []string
	own := o.Layers[l.From.Layer].Policy.Base()
	for _, to := range l.To {
		w := o.Layers[to.Layer].Policy
		name := w.Ref().String()
		switch {
		case w.Base() == own:
			continue
		case w.Builtin != "":
			name = w.Builtin + " of " + name
		}
		out = append(out, name+", which is "+o.Strength(l, to))
	}
	return out
}

// rivals are the winners on the same target, with what decided.
func rivals(o *resolve.Outcome, l merge.Loss) []string {
	var out []string
	for _, to := range l.To {
		out = append(out, fmt.Sprintf("%s targets the same object and %s", o.Layers[to.Layer].Policy.Ref(), o.Standing(l, to)))
	}
	if len(out) == 0 {
		return []string{"another policy targets the same object and comes first"}
	}
	return out
}

// unmet notes the condition that was not met; one that cannot be judged is a finding of its own.
func unmet(c *causes, o *resolve.Outcome, l merge.Loss) {
	if l.Step < 0 || l.Step >= len(o.Result.Trace) {
		c.add(condition)
		return
	}
	st := o.Result.Trace[l.Step]
	when, ok := st.When.(*expression.Condition)
	switch {
	case st.Err != nil || ok && when.Err() != nil:
		c.silent = true
	case ok:
		c.add(condition, when.Text)
	default:
		c.add(condition)
	}
}

// few lists up to five names, then counts.
func few(names []string) string {
	if rest := len(names) - mostNamed; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), rest)
	}
	return strings.Join(names, ", ")
}

// byRule sorts losses by block and rule.
func byRule(a, b lost) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.block, b.block), strings.Compare(a.rule, b.rule))
}
