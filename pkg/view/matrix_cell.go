package view

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// sharedCell is a cell that many rows have. Two rows with the same one are alike.
type sharedCell struct {
	MatrixCell
	number int
}

// matrixColumn makes the cells of one policy kind.
type matrixColumn struct {
	maker  *matrixMaker
	kind   model.GroupKind
	scopes []*resolve.Kind // the kind or, of one with scopes, those with results on the way to route rules

	none, notApplicable *sharedCell
	byStack             map[*resolve.Kind]map[resolve.StackID]*sharedCell
	bySome              map[string]*sharedCell // cells that are made of others, or that have a reason of their own
	prefixes            map[prefixNode]map[string]resolve.StackID
	unattached          map[model.Ref][]danglingPolicy // by what they name
}

// prefixNode is a node above many route rules, as a kind sees it.
type prefixNode struct {
	kind *resolve.Kind
	id   topology.NodeID
}

// danglingPolicy is a policy that names something and does not attach to it.
type danglingPolicy struct {
	policy model.Ref
	why    string
}

func (m *matrixMaker) newColumn(gk model.GroupKind) *matrixColumn {
	c := &matrixColumn{maker: m, kind: gk, byStack: map[*resolve.Kind]map[resolve.StackID]*sharedCell{}, bySome: map[string]*sharedCell{},
		prefixes: map[prefixNode]map[string]resolve.StackID{}, unattached: map[model.Ref][]danglingPolicy{}}
	c.none, c.notApplicable = c.newCell(CellNone), c.newCell(CellNotApplicable)
	m.columns = append(m.columns, c)
	m.out.Kinds = append(m.out.Kinds, gk.String())
	m.kinds[gk] = true
	return c
}

// newCell numbers a cell.
func (c *matrixColumn) newCell(state string) *sharedCell {
	cell := &sharedCell{MatrixCell: MatrixCell{PolicyKind: c.kind.String(), State: state}, number: len(c.maker.cells)}
	c.maker.cells = append(c.maker.cells, cell)
	return cell
}

// add takes a kind, or one scope of it, into the column.
func (c *matrixColumn) add(k *resolve.Kind) {
	c.scopes = append(c.scopes, k)
	c.byStack[k] = map[resolve.StackID]*sharedCell{}
	if !k.InUse() {
		return
	}
	if c.maker.query.Targets == nil {
		k.Fold()
	}
	if !k.Again() {
		c.findUnattached(k)
	}
}

// findUnattached notes the policies that name something and do not attach to it.
func (c *matrixColumn) findUnattached(k *resolve.Kind) {
	var reasons map[model.Ref][]model.Problem
	for _, p := range k.Policies {
		for i, ref := range p.Refs {
			if ref.Selects != nil || k.Attaches(p, i) || len(k.Gaps().Ref(ref)) > 0 { // what it names may be among what could not be read
				continue
			}
			if reasons == nil {
				reasons = map[model.Ref][]model.Problem{}
				for _, problem := range c.maker.res.Problems {
					if problem.Ref != nil && problem.Ref.GroupKind() == c.kind {
						reasons[*problem.Ref] = append(reasons[*problem.Ref], problem)
					}
				}
			}
			named := ref.Ref
			if len(c.maker.res.Lookup(named)) == 0 { // there is no such section
				named = named.WithoutSection()
			}
			c.unattached[named] = append(c.unattached[named], danglingPolicy{p.Ref(), reasonAt(reasons[p.Ref()], ref.Origin())})
		}
	}
}

// reasonAt is what the problems of a policy say of a place in it or, if they do not mention it, the worst of them.
func reasonAt(problems []model.Problem, at model.Origin) string {
	why := "the policy does not attach"
	for _, p := range slices.Backward(model.SortProblems(problems)) {
		if p.Origin != nil && *p.Origin == at {
			return p.Message
		}
		if p.Severity != model.Info {
			why = p.Message
		}
	}
	return why
}

// ofStack is the cell of a stack.
func (c *matrixColumn) ofStack(k *resolve.Kind, s resolve.StackID) *sharedCell {
	if k.Empty(s) {
		return c.none
	}
	cell := c.byStack[k][s]
	if cell == nil {
		cell = c.read(k.Verdict(s))
		c.byStack[k][s] = cell
	}
	return cell
}

// read makes the cell of a verdict.
func (c *matrixColumn) read(o *resolve.Verdict) *sharedCell {
	c.maker.found = append(c.maker.found, o.Problems...)
	governs := make([]bool, len(o.Layers))
	inForce := false
	for i := range o.Result.Rules {
		for _, from := range o.Result.Rules[i].From {
			if o.Layers[from.Layer].Policy.Builtin == "" {
				governs[from.Layer], inForce = true, true
			}
		}
	}
	cell := c.newCell(CellInForce)
	var doubts []string
	for i := range o.Layers {
		l := &o.Layers[i]
		if l.Policy.Builtin != "" {
			continue
		}
		ref := l.Policy.Object.Ref
		if why, open := c.maker.doubtful[ref]; open {
			doubts = append(doubts, why)
		}
		if inForce && !governs[i] {
			continue
		}
		if !slices.Contains(cell.Policies, ref) {
			cell.Policies = append(cell.Policies, ref)
		}
		if level := string(l.Level); inForce && !slices.Contains(cell.Levels, level) {
			cell.Levels = append(cell.Levels, level)
		}
	}
	switch {
	case inForce:
	case len(cell.Policies) == 0: // only what no policy wrote
		return c.none
	default:
		cell.State, cell.Why = CellLost, o.Void
		if cell.Why == "" {
			cell.Why = writer{c.maker.res, o}.fates(o.Losses())
		}
		if cell.Why == "" {
			cell.Why = "sets nothing"
		}
	}
	for _, p := range o.Problems {
		if p.Incomplete() {
			doubts = append(doubts, p.Message)
		}
	}
	if len(doubts) > 0 {
		cell.State, cell.Why = CellUnknown, firstOf(doubts)
	}
	return cell
}

// firstOf is the first of several reasons, with the number of the others.
func firstOf(reasons []string) string {
	reasons = slices.Compact(reasons)
	if len(reasons) == 1 {
		return reasons[0]
	}
	return fmt.Sprintf("%s; and %d more", reasons[0], len(reasons)-1)
}

// union is the cell of two scopes of a kind together, or of several results at one place: what holds in either is in force.
func (c *matrixColumn) union(a, b *sharedCell) *sharedCell {
	switch {
	case a == b || b == c.notApplicable:
		return a
	case a == c.notApplicable || a == c.none:
		return b
	case b == c.none:
		return a
	}
	key := fmt.Sprintf("%d+%d", a.number, b.number)
	if known := c.bySome[key]; known != nil {
		return known
	}
	if a.State != CellInForce && b.State == CellInForce {
		a, b = b, a
	}
	out := c.newCell(a.State)
	out.Why = a.Why
	for _, part := range []*sharedCell{a, b} {
		if part.State != out.State {
			continue
		}
		for _, level := range part.Levels {
			if !slices.Contains(out.Levels, level) {
				out.Levels = append(out.Levels, level)
			}
		}
		for _, p := range part.Policies {
			if !slices.Contains(out.Policies, p) {
				out.Policies = append(out.Policies, p)
			}
		}
	}
	c.bySome[key] = out
	return out
}

// because is a cell with a reason of its own.
func (c *matrixColumn) because(state, why string, policies ...model.Ref) *sharedCell {
	key := state + "\x00" + why
	for _, p := range policies {
		key += "\x00" + p.String()
	}
	if c.bySome[key] == nil {
		cell := c.newCell(state)
		cell.Why, cell.Policies = why, policies
		c.bySome[key] = cell
	}
	return c.bySome[key]
}
