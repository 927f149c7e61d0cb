package matrix

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// sharedCell is a cell that many rows have. Two rows with the same one are alike.
type sharedCell struct {
	MatrixCell
	id int
}

// matrixColumn builds the cells of one policy kind.
type matrixColumn struct {
	builder *matrixBuilder
	kind    model.GroupKind
	scopes  []*resolve.Kind // the kind or, of one with scopes, those with results on the way to route rules
	// the column is about filters of listeners, and of no policy kind
	hasListenerFilters bool

	none, notApplicable *sharedCell
	byStack             map[*resolve.Kind]map[resolve.StackID]*sharedCell
	derived             map[string]*sharedCell // cells that are made of others, or that have a reason of their own
	stacksAbove         map[prefixNode]map[string]resolve.StackID
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

func (m *matrixBuilder) newColumn(gk model.GroupKind) *matrixColumn {
	c := &matrixColumn{builder: m, kind: gk, byStack: map[*resolve.Kind]map[resolve.StackID]*sharedCell{},
		derived:     map[string]*sharedCell{},
		stacksAbove: map[prefixNode]map[string]resolve.StackID{}, unattached: map[model.Ref][]danglingPolicy{}}
	c.none, c.notApplicable = c.newCell(CellNone), c.newCell(CellNotApplicable)
	m.columns = append(m.columns, c)
	m.out.Kinds = append(m.out.Kinds, gk.String())
	m.collector.MarkKind(gk)
	return c
}

// newCell returns a new cell with an id of its own.
func (c *matrixColumn) newCell(state string) *sharedCell {
	cell := &sharedCell{MatrixCell: MatrixCell{PolicyKind: c.kind.String(), State: state}, id: len(c.builder.cells)}
	c.builder.cells = append(c.builder.cells, cell)
	return cell
}

// addKind takes a kind, or one scope of it, into the column.
func (c *matrixColumn) addKind(k *resolve.Kind) {
	c.scopes = append(c.scopes, k)
	c.byStack[k] = map[resolve.StackID]*sharedCell{}
	if !k.IsInUse() {
		return
	}
	if c.builder.collector.Query.Targets == nil {
		k.FoldAll()
	}
	if !k.IsLaterScope() {
		c.findUnattached(k)
	}
}

// findUnattached notes the policies that name something and do not attach to it.
func (c *matrixColumn) findUnattached(k *resolve.Kind) {
	var reasons map[model.Ref][]model.Problem
	for _, p := range k.Policies {
		for i, ref := range p.Refs {
			// what it names may be among what could not be read
			if ref.Selection != nil || k.HasTarget(p, i) || len(k.Gaps().OfRef(ref)) > 0 {
				continue
			}
			if reasons == nil {
				reasons = map[model.Ref][]model.Problem{}
				for _, problem := range c.builder.collector.Resolution.Problems {
					if problem.Ref != nil && problem.Ref.GroupKind() == c.kind {
						reasons[*problem.Ref] = append(reasons[*problem.Ref], problem)
					}
				}
			}
			named := ref.Ref
			if len(c.builder.collector.Resolution.Lookup(named)) == 0 { // there is no such section
				named = named.WithoutSection()
			}
			c.unattached[named] = append(c.unattached[named], danglingPolicy{p.Ref(), findReason(reasons[p.Ref()],
				ref.Origin())})
		}
	}
}

// findReason returns what the problems of a policy say of a place in it or, if they do not mention
// it, the worst of them.
func findReason(problems []model.Problem, at model.Origin) string {
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

// cellOfStack returns the cell of a stack.
func (c *matrixColumn) cellOfStack(k *resolve.Kind, s resolve.StackID) *sharedCell {
	if k.IsEmpty(s) {
		return c.none
	}
	cell := c.byStack[k][s]
	if cell == nil {
		cell = c.buildCell(k.Verdict(s))
		c.byStack[k][s] = cell
	}
	return cell
}

// buildCell returns the cell of a verdict.
func (c *matrixColumn) buildCell(o *resolve.Verdict) *sharedCell {
	c.builder.collector.AddProblems(o.Problems...)
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
		if why, open := c.builder.uncertainPolicies[ref]; open {
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
			cell.Why = collect.NewVerdictWriter(c.builder.collector.Resolution, o).DescribeLosses(o.Losses())
		}
		if cell.Why == "" {
			cell.Why = "sets nothing"
		}
	}
	for _, p := range o.Problems {
		if p.IsIncomplete() {
			doubts = append(doubts, p.Message)
		}
	}
	if len(doubts) > 0 {
		cell.State, cell.Why = CellUnknown, firstReason(doubts)
	}
	return cell
}

// firstReason returns the first of several reasons, with the number of the others.
func firstReason(reasons []string) string {
	reasons = slices.Compact(reasons)
	if len(reasons) == 1 {
		return reasons[0]
	}
	return fmt.Sprintf("%s; and %d more", reasons[0], len(reasons)-1)
}

// joinCells returns the cell of two scopes of a kind together, or of several results at one place:
// in force if either is.
func (c *matrixColumn) joinCells(a, b *sharedCell) *sharedCell {
	switch {
	case a == b || b == c.notApplicable:
		return a
	case a == c.notApplicable || a == c.none:
		return b
	case b == c.none:
		return a
	}
	key := fmt.Sprintf("%d+%d", a.id, b.id)
	if known := c.derived[key]; known != nil {
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
	c.derived[key] = out
	return out
}

// cellWithReason returns a cell with a reason of its own.
func (c *matrixColumn) cellWithReason(state, why string, policies ...model.Ref) *sharedCell {
	key := state + "\x00" + why
	for _, p := range policies {
		key += "\x00" + p.String()
	}
	if c.derived[key] == nil {
		cell := c.newCell(state)
		cell.Why, cell.Policies = why, policies
		c.derived[key] = cell
	}
	return c.derived[key]
}
