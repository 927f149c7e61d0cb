package policy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Decision is what puts one of two policies, the winner, before or behind the other in the order of their kind: the first key that tells
// them apart.
type Decision struct {
	Key   *Key   // nil: something else than the kind's comparator has decided
	Named string // what that is, like "by the order of the filters"; "": it has no name
	Last  bool   // the winner comes behind the other

	winner, loser string // what the key compares
	passed        string // why the age did not decide, where it would have before the key
}

// Decide says what puts the winner before or behind the loser. With ageIgnored the age of policies does not count, as Order says of those
// that are ordered together.
func (k *Ordering) Decide(winner, loser Attached, ageIgnored bool) Decision {
	at, c := k.decide(&winner, &loser, ageIgnored)
	d := Decision{Last: c > 0}
	if at < 0 {
		d.Key, d.Last = &Key{By: ByName}, winner.Policy.Ref().Compare(loser.Policy.Ref()) > 0
	} else {
		d.Key = &k.Compare[at]
	}
	d.winner, d.loser = d.Key.shown(&winner), d.Key.shown(&loser)
	for i := range k.Compare {
		if i == at {
			break
		}
		if k.Compare[i].By == ByCreated {
			d.passed = passed(&winner, &loser, ageIgnored)
		}
	}
	return d
}

// decide is the first key by which two policies differ, -1 if there is none, and which comes first.
func (k *Ordering) decide(a, b *Attached, ageIgnored bool) (key, order int) {
	for i := range k.Compare {
		if k.Compare[i].By == ByCreated && ageIgnored {
			continue
		}
		if c := k.Compare[i].compare(a, b); c != 0 {
			return i, c
		}
	}
	return -1, 0
}

// passed says why the age of two policies does not tell them apart.
func passed(a, b *Attached, ageIgnored bool) string {
	switch {
	case a.Policy.Object.Created.IsZero() || b.Policy.Object.Created.IsZero():
		return "no creation time"
	case ageIgnored:
		return "not all of the policies have a creation time"
	}
	return "created in the same second"
}

// Words say where the winner stands, and what put it there, as what follows its name. Where it wins among defaults by coming last, they say so.
func (d Decision) Words() string {
	switch {
	case !d.Last:
		return d.Place()
	case d.Key != nil && d.Key.By == ByCreated:
		return d.Place() + "; among defaults the newest wins"
	}
	return d.Place() + "; among defaults the last one wins"
}

// Place is Words without what the place means.
func (d Decision) Place() string {
	age := d.Key != nil && d.Key.By == ByCreated
	switch {
	case age && d.Last:
		return "is newer"
	case age:
		return "is older"
	case d.Last:
		return "comes last" + d.Brackets()
	}
	return "comes first" + d.Brackets()
}

// Brackets is By in brackets, to put behind a word about the order.
func (d Decision) Brackets() string {
	if by := d.By(); by != "" {
		return " (" + by + ")"
	}
	return ""
}

// By names the key that decided, with what it compared; "" where it has no name.
func (d Decision) By() string {
	by := d.by()
	if by != "" && d.passed != "" {
		by += ": " + d.passed
	}
	return by
}

func (d Decision) by() string {
	if d.Key == nil {
		return d.Named
	}
	switch k := d.Key; k.By {
	case ByCreated:
		if d.Last {
			return "by age: it is newer"
		}
		return "by age: it is older"
	case ByName, ByNamespacedName, ByIdentity:
		return "by name"
	case ByNamespace:
		return "by namespace"
	case BySection:
		return "by section: " + d.winner
	case ByIndex:
		return "by position"
	case ByField:
		return "by " + cmp.Or(k.Called, strings.Join(k.At, ".")) + d.values()
	case ByLabel, ByAnnotation:
		return "by " + cmp.Or(k.Called, string(k.By)+" "+k.At[0]) + d.values()
	default:
		if k.Called == "" {
			return ""
		}
		return "by " + k.Called
	}
}

// values are what the key found, the winner's first.
func (d Decision) values() string {
	word := "before"
	if d.Last {
		word = "after"
	}
	return fmt.Sprintf(": %s %s %s", d.winner, word, d.loser)
}

// shown is what the key compares of a policy, for people.
func (k *Key) shown(a *Attached) string {
	switch k.By {
	case BySection:
		if a.section() == "" {
			return "it is for the whole object"
		}
		return "it is for a section"
	case ByField, ByLabel, ByAnnotation:
		v := k.value(a.Policy)
		switch {
		case k.Present && v == "":
			return "without"
		case k.Present:
			return "with one"
		case k.Number:
			return strconv.FormatFloat(k.number(v), 'f', -1, 64)
		case v == "" && k.Absent == "":
			return "none"
		case v == "":
			return k.Absent
		}
		return v
	}
	return ""
}
