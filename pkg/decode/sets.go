package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// keepOneSet leaves only the set that the kind reads: defaults, else overrides, else the bare one.
func (d *decoder) keepOneSet() {
	if !d.kind.Content.OneSet || len(d.policy.Blocks) < 2 {
		return
	}
	read := d.policy.Blocks[0]
	if read.Kind == merge.Bare { // there are overrides behind it
		read = d.policy.Blocks[1]
	}
	for _, b := range d.policy.Blocks {
		if b.Kind != read.Kind && len(b.Units) > 0 {
			d.reportIgnoredSet(b, read.Kind)
		}
	}
	d.policy.Blocks = []merge.Block{read}
}

// reportIgnoredSet reports a set that is not read, by the fields in it where it is the bare one.
func (d *decoder) reportIgnoredSet(b merge.Block, read merge.BlockKind) {
	at := d.kind.Content.BlockPath(b.Kind)
	what := []string{strings.Join(at, ".")}
	if b.Kind == merge.Bare {
		what = nil
		for _, u := range b.Units {
			if len(u.Path) > 0 && !slices.Contains(what, u.Path[0].Name) {
				what = append(what, u.Path[0].Name)
			}
		}
		if len(what) == 0 {
			return
		}
		at = append(slices.Clone(at), what[0])
		for i := range what {
			what[i] = strings.Join(append(slices.Clone(at[:len(at)-1]), what[i]), ".")
		}
	}
	inside := strings.Join(d.kind.Content.BlockPath(read), ".")
	d.addProblem(model.IgnoredTopLevelWhen, at, "%s of the policy is ignored: of policies with %s only that is read",
		strings.Join(what, ", "), inside).Hint = "move it into " + inside
}

// reportMixedBlocks reports blocks that the specifications do not let stand together.
func (d *decoder) reportMixedBlocks() {
	has := func(b merge.BlockKind) bool {
		return slices.ContainsFunc(d.policy.Blocks, func(x merge.Block) bool { return x.Kind == b })
	}
	at := d.kind.Content.At
	if has(merge.Bare) && (has(merge.Defaults) || has(merge.Overrides)) {
		d.addProblem(model.BareWithBlocks, at,
			"settings stand bare and in blocks: the bare set is an atomic default, merged after the policy's own defaults")
	}
	if d.kind.IsGeneric() && has(merge.Defaults) && has(merge.Overrides) {
		d.addProblem(model.MultipleBlocks, at,
			"both defaults and overrides are set, which GEP-713 does not provide for: folded block by block")
	}
}

// readUnset collects the deactivation lists; both spellings are one list.
func (d *decoder) readUnset() {
	for _, field := range d.kind.Content.Unset {
		raw := d.spec.Field(field)
		if raw.IsNull() {
			continue
		}
		at := append(slices.Clone(d.kind.Content.At), field)
		list, ok := raw.Value().([]any)
		if !ok {
			d.addProblem(model.WrongType, at, "%s is not a list of rule names: ignored", strings.Join(at, "."))
			continue
		}
		for _, entry := range list {
			name, ok := entry.(string)
			if !ok {
				d.addProblem(model.WrongType, at, "%s holds %v, which is no rule name: ignored",
					strings.Join(at, "."), entry)
				continue
			}
			d.policy.Unset = append(d.policy.Unset, name)
		}
	}
	slices.Sort(d.policy.Unset)
	d.policy.Unset = slices.Compact(d.policy.Unset)
}

// readDemandedStrategy reads the strategy that the policy demands as the lower side of a merge.
func (d *decoder) readDemandedStrategy() {
	r := d.kind.DemandedStrategy
	if r == nil {
		return
	}
	raw := d.spec.At(r.Path...)
	if raw.IsNull() {
		return
	}
	if d.policy.DemandedStrategy = r.ParseStrategy(raw.Text(), d.kind.Settings); d.policy.DemandedStrategy == nil {
		at := slices.Concat(d.kind.Content.At, r.Path)
		d.addProblem(model.UnknownStrategy, at, "%s %q is unknown: treated as not set", r.Path[len(r.Path)-1],
			fmt.Sprint(raw.Value()))
	}
}

// reportUnevaluated reports the fields of the policy that are not evaluated.
func (d *decoder) reportUnevaluated() {
	for _, u := range d.kind.Unevaluated {
		if !d.body.At(u.Path...).IsNull() {
			d.addProblem(model.NotEvaluated, u.Path, "%s: %s", strings.Join(u.Path, "."), u.Message)
		}
	}
}
