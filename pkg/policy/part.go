package policy

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Part is one set of settings of several in one object: each entry of a list, or what stands at a
// path.
type Part struct {
	Name          string
	List, At      []string  // neither: the whole object
	Settings      []string  // inside the entry
	Unless        []string  // read only where this path is absent
	PrintedName   string    // how parts are printed, if not by the name
	UnlessSetting [2]string // a setting and its value with which the part is not read
	Normalize     PartNormalizer
}

// PartNormalizer makes of a part's settings, as they are written, what the vendor reads: types,
// defaults of the API. It may change them.
type PartNormalizer func(part *Policy, settings any, s model.Settings) any

// NoPart is what a PartNormalizer makes of what is no part after all.
type NoPart struct{}

// PartsOf cuts a policy into the parts that a scope reads, in their order.
func (k *Kind) PartsOf(p *Policy, s *Scope) []*Policy {
	var out []*Policy
	if p.Kind.GroupKind != k.GroupKind { // a member
		k = p.Kind.InScope(s)
	}
	for _, name := range s.Parts {
		i := slices.IndexFunc(k.Parts, func(part Part) bool { return part.Name == name })
		if i < 0 {
			continue
		}
		part := &k.Parts[i]
		body := p.Object.Body
		if part.UnlessSetting[0] != "" &&
			k.Settings.Text(k.Vendor+"."+part.UnlessSetting[0]) == part.UnlessSetting[1] || part.Unless != nil &&
			body.At(part.Unless...).Len() > 0 {
			continue
		}
		if part.List == nil && part.At == nil { // also one without settings
			out = k.appendPart(out, p, part, body, part.PrintedName, nil, len(out))
			continue
		}
		if part.List == nil {
			if one := body.At(part.At...); part.Settings == nil && one.IsObject() || part.Settings != nil &&
				one.Has(part.Settings[0]) {
				out = k.appendPart(out, p, part, one, cmp.Or(part.PrintedName, part.Name), part.At, len(out))
			}
			continue
		}
		for i, entry := range body.At(part.List...).Items {
			at := append(slices.Clone(part.List), strconv.Itoa(i))
			out = k.appendPart(out, p, part, entry, cmp.Or(part.PrintedName, part.Name)+"["+strconv.Itoa(i)+"]", at, i)
		}
	}
	return out
}

// appendPart appends one part to a list, unless it is none.
func (k *Kind) appendPart(to []*Policy, p *Policy, part *Part, entry model.Body, name string, at []string,
	index int) []*Policy {
	out := &Policy{Kind: k, Object: p.Object, Labels: p.Labels, Whole: p, Part: name, Index: index, Entry: entry,
		at: slices.Concat(at, part.Settings)}
	settings := entry.At(part.Settings...).Value()
	if part.Normalize != nil {
		settings = part.Normalize(out, settings, k.Settings)
	}
	if settings == (NoPart{}) {
		return to
	}
	units, _ := k.Rules.CutSettings(settings)
	if len(units) == 0 { // it takes part all the same
		units = []merge.Unit{{Value: map[string]any{}}}
	}
	strategy := k.Strategy.Default.ForBlock(merge.Bare)
	out.AppendBlock(merge.Block{Kind: merge.Bare, Units: units, Strategy: strategy})
	return append(to, out)
}
