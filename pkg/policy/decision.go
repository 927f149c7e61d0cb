package policy

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// Decide says what puts the winner before or behind the loser in the order of the kind: the first
// key that tells them apart. With ageIgnored the age of policies does not count, as Order says of
// those that are ordered together.
func (k *Ordering) Decide(winner, loser Attached, ageIgnored bool) merge.Decision {
	at, c := k.firstDifference(&winner, &loser, ageIgnored)
	key := &Key{By: ByName}
	if at >= 0 {
		key = &k.Compare[at]
	} else {
		c = winner.Policy.Ref().Compare(loser.Policy.Ref())
	}
	d := merge.Decision{Criterion: key.mergeCriterion(), KeyName: key.keyName(), Winner: key.comparedText(&winner),
		Loser: key.comparedText(&loser), Last: c > 0}
	for i := range k.Compare {
		if i == at {
			break
		}
		if k.Compare[i].By == ByCreated {
			d.Age = ageDoubt(&winner, &loser, ageIgnored)
		}
	}
	return d
}

// firstDifference returns the first key by which two policies differ, -1 if there is none, and
// which policy comes first.
func (k *Ordering) firstDifference(a, b *Attached, ageIgnored bool) (key, order int) {
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

// ageDoubt says why the age of two policies does not tell them apart.
func ageDoubt(a, b *Attached, ageIgnored bool) merge.Age {
	switch {
	case a.Policy.Object.Created.IsZero() || b.Policy.Object.Created.IsZero():
		return merge.AgeUnknown
	case ageIgnored:
		return merge.AgeIgnored
	}
	return merge.AgeEqual
}

func (k *Key) mergeCriterion() merge.Criterion {
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

// keyName returns what the kind calls the key, or where it looks.
func (k *Key) keyName() string {
	if len(k.At) == 0 {
		return k.Name
	}
	return cmp.Or(k.Name, strings.Join(k.At, "."))
}

// comparedText returns what the key compares of a policy, for people.
func (k *Key) comparedText(a *Attached) string {
	p := a.Policy
	switch k.By {
	case ByCreated:
		if p.Object.IsNew {
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
		if a.sectionName() == "" {
			return "object"
		}
		return "section"
	case ByIndex:
		return strconv.Itoa(a.Index)
	case ByField, ByLabel, ByAnnotation:
		v := k.valueOf(p)
		switch {
		case k.Present && v == "":
			return "absent"
		case k.Present:
			return "present"
		case k.Number:
			return strconv.FormatFloat(k.parseNumber(v), 'f', -1, 64)
		case v == "":
			return cmp.Or(k.Absent, "none")
		}
		return v
	}
	return ""
}
