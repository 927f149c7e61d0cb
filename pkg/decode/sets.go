package decode

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// oneSet leaves only the set that the kind reads: defaults, else overrides, else the bare one.
func (d *decoder) oneSet() {
	if !d.kind.Content.OneSet || len(d.policy.Blocks) < 2 {
		return
	}
	read := d.policy.Blocks[0]
	if read.Kind == merge.Bare { // there are overrides behind it
		read = d.policy.Blocks[1]
	}
	for _, b := range d.policy.Blocks {
		if b.Kind != read.Kind && len(b.Units) > 0 {
			d.ignored(b, read.Kind)
		}
	}
	d.policy.Blocks = []merge.Block{read}
}

// ignored reports a set that is not read, by the fields in it where it is the bare one.
func (d *decoder) ignored(b merge.Block, read merge.BlockKind) {
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
	d.problem(model.IgnoredTopLevelWhen, at, "%s of the policy is ignored: of policies with %s only that is read", strings.Join(what, ", "), inside).Hint = "move it into " + inside
}

// mixture reports blocks that the specifications do not let stand together.
func (d *decoder) mixture() {
	has := func(b merge.BlockKind) bool {
		return slices.ContainsFunc(d.policy.Blocks, func(x merge.Block) bool { return x.Kind == b })
	}
	at := d.kind.Content.At
	if has(merge.Bare) && (has(merge.Defaults) || has(merge.Overrides)) {
		d.problem(model.BareWithBlocks, at, "settings stand bare and in blocks: the bare set is an atomic default, merged after the policy's own defaults")
	}
	if d.kind.Generic() && has(merge.Defaults) && has(merge.Overrides) {
		d.problem(model.MultipleBlocks, at, "both defaults and overrides are set, which GEP-713 does not provide for: folded block by block")
	}
}
