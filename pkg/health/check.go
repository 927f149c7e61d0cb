package health

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Check is what judges the policies of one kind: their conditions, or the words in place of them.
type Check struct {
	Kind       model.GroupKind
	APIVersion string // group/version, of which readers use the group alone
	Words      policy.HealthWords
	State      *policy.StateField // not nil: a word in the place of conditions
}

// Reason says why a kind has no check.
type Reason string

// The reasons.
const (
	NoStatus    Reason = "Their controllers write no status"
	NotStated   Reason = "Nothing says what their controllers report"
	NoMeaning   Reason = "Nothing says what their status means for their health"
	Unnamable   Reason = "Their names cannot be written here"
	MayBeSilent Reason = "Not every policy has a status, which an expression cannot tell from one that is late"
)

// LeftOut are kinds without a check, for one reason.
type LeftOut struct {
	Reason Reason
	Kinds  []model.GroupKind // sorted
}

// Checks are the checks of several kinds.
type Checks struct {
	All     []Check   // sorted by kind
	LeftOut []LeftOut // sorted by reason
}

// nameForm is what a group or a kind looks like that can be a part of a key.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?$`)

// fieldForm is what a field looks like that needs no quotes in a script.
var fieldForm = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// ListChecks returns a check of every kind whose descriptor says what the status of its policies
// means. versionOf names the API version of a kind, "" where it is not known.
func ListChecks(kinds []*policy.Kind, versionOf func(model.GroupKind) string) Checks {
	var out Checks
	for _, k := range kinds {
		gk := k.GroupKind
		check := Check{Kind: gk, APIVersion: gk.Group + "/" + cmp.Or(versionOf(gk), "v1")}
		switch why := check.fillWords(k.Status); {
		case k.Virtual, k.IsGeneric():
		case why != "":
			out.leaveOut(why, gk)
		case !nameForm.MatchString(gk.Group) || !nameForm.MatchString(gk.Kind):
			out.leaveOut(Unnamable, gk)
		default:
			out.All = append(out.All, check)
		}
	}
	slices.SortFunc(out.All, func(a, b Check) int { return a.Kind.Compare(b.Kind) })
	return out
}

// fillWords fills in by what the check judges; why not, if it cannot.
func (c *Check) fillWords(s policy.StatusWords) (why Reason) {
	for i, f := range s.States {
		if len(f.Healthy) > 0 && isReadablePlace(f.At) {
			c.State = &s.States[i]
			return ""
		}
	}
	switch {
	case s.Health != nil:
		c.Words = *s.Health
		return ""
	case s.NoConditions && !s.Unstated:
		return NoStatus
	case s.Func != "":
		return NoMeaning
	}
	return NotStated
}

// isReadablePlace reports whether scripts can read what stands at a place: a field of the status, or
// one of each entry of an object there.
func isReadablePlace(at []string) bool {
	for i, step := range at {
		if step == "*" && i == len(at)-2 && i > 1 {
			continue
		}
		if !fieldForm.MatchString(step) {
			return false
		}
	}
	return len(at) > 1 && at[0] == "status"
}

// leaveOut notes that a kind has no check.
func (c *Checks) leaveOut(why Reason, gk model.GroupKind) {
	i, found := slices.BinarySearchFunc(c.LeftOut, why, func(l LeftOut, r Reason) int { return cmp.Compare(l.Reason, r) })
	if !found {
		c.LeftOut = slices.Insert(c.LeftOut, i, LeftOut{Reason: why})
	}
	all := append(c.LeftOut[i].Kinds, gk)
	slices.SortFunc(all, func(a, b model.GroupKind) int { return a.Compare(b) })
	c.LeftOut[i].Kinds = slices.Compact(all)
}

// listNeeded returns the types of conditions that must be True.
func (c *Check) listNeeded() []string { return slices.Concat(c.Words.Required, c.Words.Judged) }

// listConcerned returns the types of conditions that decide, and reasons, which are no type.
func (c *Check) listConcerned() []string { return append(c.listNeeded(), c.Words.Adverse...) }
