package policy

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// Decide says what puts the winner before or behind the loser in the order of the kind: the first key that tells them apart. With ageIgnored
// the age of policies does not count, as Order says of those that are ordered together.
func (k *Ordering) Decide(winner, loser Attached, ageIgnored bool) merge.Decision {
	at, c := k.decide(&winner, &loser, ageIgnored)
	key := &Key{By: ByName}
	if at >= 0 {
		key = &k.Compare[at]
	} else {
		c = winner.Policy.Ref().Compare(loser.Policy.Ref())
	}
	d := merge.Decision{Criterion: key.criterion(), Called: key.called(), Winner: key.shown(&winner), Loser: key.shown(&loser), Last: c > 0}
	for i := range k.Compare {
		if i == at {
			break
		}
		if k.Compare[i].By == ByCreated {
			d.Age = passed(&winner, &loser, ageIgnored)
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
func passed(a, b *Attached, ageIgnored bool) merge.Age {
	switch {
	case a.Policy.Object.Created.IsZero() || b.Policy.Object.Created.IsZero():
		return merge.AgeUnknown
	case ageIgnored:
		return merge.AgeIgnored
	}
	return merge.AgeEqual
}

func (k *Key) criterion() merge.Criterion {
	switch k.By {
	case ByCreated:
		return merge.CriterionAge
	case ByName, ByNamespacedName, ByIdentity:
		return merge.CriterionName
	case ByNamespace:
		return merge.CriterionNamespace
	case BySection:
		return merge.CriterionSection
	case ByIndex:
		return merge.CriterionPosition
	case ByField:
		return merge.CriterionField
	case ByLabel:
		return merge.CriterionLabel
	case ByAnnotation:
		return merge.CriterionAnnotation
	}
	return merge.CriterionOrder
}

// called is what the kind calls the key, or where it looks.
func (k *Key) called() string {
	if len(k.At) == 0 {
		return k.Called
	}
	return cmp.Or(k.Called, strings.Join(k.At, "."))
}

// shown is what the key compares of a policy.
func (k *Key) shown(a *Attached) string {
	p := a.Policy
	switch k.By {
	case ByCreated:
		if p.Object.New {
			return "new"
		}
		return p.Object.Created.UTC().Format(time.RFC3339)
	case ByName:
		return p.Ref().Name
	case ByNamespace:
		return p.Ref().Namespace
	case ByNamespacedName, ByIdentity:
		return p.Ref().FullName()
	case BySection:
		if a.section() == "" {
			return "object"
		}
		return "section"
	case ByIndex:
		return strconv.Itoa(a.Index)
	case ByField, ByLabel, ByAnnotation:
		v := k.value(p)
		switch {
		case k.Present && v == "":
			return "absent"
		case k.Present:
			return "present"
		case k.Number:
			return strconv.FormatFloat(k.number(v), 'f', -1, 64)
		case v == "":
			return cmp.Or(k.Absent, "none")
		}
		return v
	}
	return ""
}
