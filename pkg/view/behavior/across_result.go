package behavior

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// buildResult sorts the changes, and completes the answer.
func (c *acrossComparer) buildResult() {
	out := c.out
	order := make([]int, len(c.changes))
	for i := range order {
		order[i] = i
	}
	rank := map[string]int{AccessOpened: 0, "": 1, AccessClosed: 2}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &c.changes[i], &c.changes[j]
		return cmp.Or(view.CompareBools(a.change.Beyond, b.change.Beyond), rank[a.change.Access]-rank[b.change.Access],
			view.CompareBools(a.change.Difference != NewAccess, b.change.Difference != NewAccess),
			requests.CompareSizes(&a.smallest, &b.smallest))
	})
	repairs := c.newRepairFinder()
	position := make([]int, len(order))
	for n, i := range order {
		position[i] = n
		one := &c.changes[i]
		one.change.Request, one.change.Command = requests.NewRequestText(&one.smallest),
			requests.FormatCommand(&one.smallest)
		one.change.Before, one.change.After = c.describeSide(0, one.before), c.describeSide(1, one.after)
		one.change.Repair = repairs.findRepair(one.change.Difference, &one.smallest, one.before, one.after,
			one.change.Policies)
		one.change.Circumstances = requests.FormatCircumstances(&one.smallest)
		out.Items = append(out.Items, one.change)
	}
	for i := range out.Requests {
		if r := &out.Requests[i]; r.hasChange {
			r.Change = &position[r.change]
		}
	}
	out.Undecided = listUndecided(c.undecided)
	out.Hosts, out.oneInput = orderHosts(c.hosts), c.inputs[0].Resolution == c.inputs[1].Resolution
	if n := len(c.plainHosts); n > 0 {
		out.AddLeftOut(fmt.Sprintf("requests over https to %s without a certificate before, such as %s",
			view.FormatCount(n, "host"), c.plainHosts[0]))
	}
	if c.asksService {
		out.AddLeftOut("which authentication service is asked, and what it answers")
	}
	out.assumed = listAssumptions(c.problems)
	for i := range c.problems {
		c.problems[i] = append(c.problems[i], c.collectors[i].CollectProblems()...)
	}
	problems, news := diff.JoinProblems(c.problems[0], c.problems[1])
	values := diff.MissingValueProblems(c.inputs[0].Resolution, c.inputs[1].Resolution)
	out.news = model.SortProblems(append(news, values...))
	out.Finish("BehaviorDiff", append(problems, values...))
	out.Complete = out.Complete && len(out.Undecided) == 0
	out.accessKnown = out.Complete
	switch {
	case out.Changed > 0:
		out.Verdict = Different
	case !out.Complete:
		out.Verdict = NotProved
	default:
		out.Verdict = Equivalent
	}
}

// newRepairFinder knows what the implementation of the second side has.
func (c *acrossComparer) newRepairFinder() repairFinder {
	g, at := c.sides[1].(*gatewayAnswerer)
	if !at {
		return repairFinder{}
	}
	names := map[string]bool{}
	for _, e := range g.competition.Entries(g.destination) {
		names[c.inputs[1].Resolution.Graph.ImplementationName(e.Gateway)] = true
	}
	var out repairFinder
	for name := range names {
		if equivalents := c.inputs[1].Judges.Equivalents[name]; equivalents != nil && len(names) == 1 {
			out = repairFinder{name, equivalents}
		}
	}
	return out
}

// describeSide returns what a request gets on a side in the shape of the contract.
func (c *acrossComparer) describeSide(side int, got *sideAnswer) BehaviorSide {
	facts, backends := requests.DescribeProxyAnswer(&got.Answer)
	out := BehaviorSide{Outcome: string(got.Outcome), Status: got.Status, Location: got.Location, Backends: backends,
		Protected: []string{}, Denied: []string{}, Why: append([]string{}, got.Why...), ProxyFacts: facts}
	if got.atRule != nil {
		out.setPlace(c.inputs[side].Resolution, got.atRule)
	}
	return out
}

// listAssumptions returns what is assumed of the proxies because the input does not tell, each once.
func listAssumptions(problems [2][]model.Problem) []string {
	var out []string
	for _, all := range problems {
		for _, p := range all {
			assumed := p.Code == model.NotEvaluated || p.Code == model.OrderUncertain
			if assumed && p.Severity == model.Info && !slices.Contains(out, p.Message) {
				out = append(out, p.Message)
			}
		}
	}
	return out
}
