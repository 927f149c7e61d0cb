package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// unset collects the deactivation lists; both spellings are one list.
func (d *decoder) unset() {
	for _, field := range d.kind.Content.Unset {
		raw := d.spec.Field(field)
		if raw.IsNull() {
			continue
		}
		at := append(slices.Clone(d.kind.Content.At), field)
		list, ok := raw.Value().([]any)
		if !ok {
			d.problem(model.WrongType, at, "%s is not a list of rule names: ignored", strings.Join(at, "."))
			continue
		}
		for _, entry := range list {
			name, ok := entry.(string)
			if !ok {
				d.problem(model.WrongType, at, "%s holds %v, which is no rule name: ignored", strings.Join(at, "."), entry)
				continue
			}
			d.policy.Unset = append(d.policy.Unset, name)
		}
	}
	slices.Sort(d.policy.Unset)
	d.policy.Unset = slices.Compact(d.policy.Unset)
}

// asks reads what the policy demands as the lower side of a merge.
func (d *decoder) asks() {
	r := d.kind.Asks
	if r == nil {
		return
	}
	raw := d.spec.At(r.Path...)
	if raw.IsNull() {
		return
	}
	if d.policy.Asks = r.Choose(raw.Text(), d.kind.Settings); d.policy.Asks == nil {
		at := slices.Concat(d.kind.Content.At, r.Path)
		d.problem(model.UnknownStrategy, at, "%s %q is not known: it is taken as not set", r.Path[len(r.Path)-1], fmt.Sprint(raw.Value()))
	}
}

// unjudged reports what is not evaluated of the policy.
func (d *decoder) unjudged() {
	for _, u := range d.kind.Unjudged {
		if !d.body.At(u.Path...).IsNull() {
			d.problem(model.NotEvaluated, u.Path, "%s: %s", strings.Join(u.Path, "."), u.Message)
		}
	}
}
