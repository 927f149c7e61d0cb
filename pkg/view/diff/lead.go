package diff

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Lead is how a comment on a pull request begins.
type Lead struct {
	Claim  string   // what loses protection, or that nothing does, or that it is not known
	Names  []string // the targets that lose it
	Detail string   // everything else that the headline says
}

// Lead says what loses protection before anything else. That nothing does is only said where
// everything is known that can tell.
func (d *EffectivePolicyDiff) Lead() Lead {
	losses := slices.Concat(d.lossSentences("route rule"), d.unprotectedSentences("target"), d.exposedSentences())
	fresh := d.newRuleSentences()
	out := Lead{Detail: strings.Join(slices.Concat(d.schemaSentence(), []string{d.fullChangeSentence()},
		d.gainSentences()), " ")}
	switch {
	case len(losses) > 0:
		out.Claim, out.Names = strings.Join(losses, " "), d.listLosers()
		out.Detail = strings.Join(append(fresh, out.Detail), " ")
		if !d.Complete {
			out.Claim += " More may be lost: the answer is incomplete."
		}
	case !d.Complete:
		out.Claim = "The answer is incomplete, and may hide a loss of protection: none is found in what was read."
		out.Detail = strings.Join(append(fresh, out.Detail), " ")
	case len(d.unclear) > 0:
		sentences := describeChanges(d.unclear, protectionUnclear, "route rule is without|route rules are without")
		out.Claim = strings.Join(sentences, " ") + " That may be new: it was not known before."
		out.Names = listNames(listTargets(d.unclear))
		out.Detail = strings.Join(append(fresh, out.Detail), " ")
	case len(fresh) > 0:
		out.Claim = "Nothing that was there loses protection. " + strings.Join(fresh, " ")
	case d.HasChanges():
		out.Claim = "Nothing loses protection."
	default:
		out.Claim, out.Detail = out.Detail, ""
	}
	return out
}

// fullChangeSentence says how much changes, as a sentence among others.
func (d *EffectivePolicyDiff) fullChangeSentence() string {
	if len(d.Items) == 0 && d.HasChanges() {
		return "No effective policy changes."
	}
	text := strings.TrimSuffix(d.changeSentence(), ".")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// listLosers returns the names of the targets that lose protection, or may lose it, each once.
func (d *EffectivePolicyDiff) listLosers() []string {
	var refs []model.Ref
	for i := range d.Protection {
		if c := &d.Protection[i]; c.Change != ProtectionGained {
			refs = append(refs, c.Target)
		}
	}
	for i := range d.Items {
		if d.Items[i].Unprotected {
			refs = append(refs, d.Items[i].Target)
		}
	}
	for _, u := range d.Summary.Exposed {
		refs = append(refs, u.Targets...)
	}
	return listNames(refs)
}

func listTargets(changes []ProtectionChange) []model.Ref {
	out := make([]model.Ref, len(changes))
	for i := range changes {
		out[i] = changes[i].Target
	}
	return out
}

// listNames returns names in the order of their first mention, each once.
func listNames(refs []model.Ref) []string {
	seen := map[model.Ref]bool{}
	var out []string
	for _, r := range refs {
		if !seen[r] {
			seen[r] = true
			out = append(out, r.String())
		}
	}
	return out
}
