package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// checkListenerFilters makes the answer conditional where filters of the listener may answer
// requests, or change them, before any rule is looked for. They cannot change the host, nor is the
// listener chosen again: a rule of the listener takes the request, or none does.
func (t *trace) checkListenerFilters() {
	a := t.answer
	if a.Listener == topology.None {
		return
	}
	n := t.matcher.graph.Node(a.Listener)
	filters := n.ListenerFilters()
	if len(filters) == 0 {
		return
	}
	var names []string
	rewrites := false
	for _, f := range filters {
		name, changes := describeListenerFilter(f)
		names, rewrites = append(names, name), rewrites || changes
	}
	why := "filters of " + n.Ref.String() + " run before a rule is looked for: " + strings.Join(names, ", then ")
	a.listenerConditions++
	if !rewrites {
		a.makeConditional(why)
		return
	}
	a.RewrittenByListener = true
	a.addCandidateDoubt(why)
	a.addProblem(model.Info, model.NotEvaluated, n.Object, "the request filters of "+n.Ref.String()+
		" are not evaluated", "")
}

// checkAssumedFilters makes an answer conditional of which the rule is assumed: filters of the listener
// may still answer themselves.
func (t *trace) checkAssumedFilters() {
	a := t.answer
	if a.Listener == topology.None {
		return
	}
	if n := t.matcher.graph.Node(a.Listener); len(n.ListenerFilters()) > 0 {
		a.listenerConditions++
		a.makeConditional("filters of " + n.Ref.String() + " may answer before a rule is looked for")
	}
}

// describeListenerFilter names a filter with what it may do to a request, and says whether it may change
// which rule takes it.
func describeListenerFilter(f model.Body) (name string, rewrites bool) {
	switch kind := f.Text("type"); kind {
	case "ExternalAuth", "CORS":
		return kind + " may deny", false
	case "ExtensionRef":
		ref := f.Field("extensionRef")
		return strings.TrimSpace(ref.Text("kind")+" "+ref.Text("name")) + " may rewrite or deny", true
	default:
		return kind + " may rewrite", true
	}
}

// listRewritten returns what becomes of a request that filters of its listener may rewrite: by each
// rule there whose route is for the host, and by none.
func (t *trace) listRewritten() []*Answer {
	kinds := []string{"HTTPRoute", "GRPCRoute"}
	var out []*Answer
	delegates := false
	for _, table := range t.answeringTables {
		eachHostname(t.request.Host, func(name string) {
			for _, p := range table {
				for _, kind := range kinds {
					b := t.matcher.findIndex(p.id)[kind][name]
					if b == nil {
						continue
					}
					all := b.listCandidates()
					slices.SortFunc(all, func(x, y candidate) int { return int(x.rule) - int(y.rule) })
					for i := range all {
						c := &all[i]
						delegates = delegates || c.openReason != "" || isDelegating(t.matcher.graph, c.rule)
						if !slices.ContainsFunc(out, func(o *Answer) bool { return o.Rule == c.rule && o.Listener == c.place }) {
							out = append(out, assumeCandidate(t, c, c.place))
						}
					}
				}
			}
		})
	}
	if delegates {
		return nil // a rule of another route may take it
	}
	return append(out, assumeCandidate(t, nil, t.answer.Listener))
}
