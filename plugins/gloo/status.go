package gloo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The words that the controller writes, of those that depend on policies.
const (
	accepted = "Accepted"
	warning  = "Warning"
)

// optionStatuses are the states that the controller writes. It writes none for an option that is
// used nowhere, but for the losers of the kinds of which it says so.
func optionStatuses(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	b := usageRecord{graph: r.Graph, kind: k, used: map[*policy.Policy]bool{}, warnings: map[*policy.Policy][]string{}}
	k.EachContext(b.visitNode)
	out := make(map[*policy.Policy][]status.Ancestor, len(fates))
	for _, f := range fates {
		word, why := accepted, "the option is used"
		switch warnings := b.warnings[f.Policy]; {
		case len(warnings) > 0:
			word, why = warning, strings.Join(warnings, "; ")
		case !b.used[f.Policy]:
			continue
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{{Type: k.Status.States[0].Type(),
			Status: word, Reason: word, Message: why}}}}
	}
	return out
}

// usageRecord collects what the translation says of options.
type usageRecord struct {
	graph    *topology.Graph
	kind     *resolve.Kind
	used     map[*policy.Policy]bool
	warnings map[*policy.Policy][]string
}

// visitNode looks at one listener or rule.
func (b *usageRecord) visitNode(id topology.NodeID, stack resolve.StackID) {
	o := b.kind.Verdict(stack)
	if b.kind.GroupKind.Kind == routeOption {
		b.addRule(o)
		return
	}
	if set := b.findListenerSet(id); set != topology.None && b.graph.ListenerSet(set).State == topology.SetNotAllowed {
		return // its listeners are not translated
	}
	b.addListener(id, o)
}

// findListenerSet is the listener set of a listener, or None.
func (b *usageRecord) findListenerSet(listener topology.NodeID) topology.NodeID {
	for _, id := range b.graph.Parents(topology.Traffic, listener) {
		if b.graph.Node(id).Role == topology.ListenerSet {
			return id
		}
	}
	return topology.None
}

// addRule notes the options that are used at a rule: those with a setting in force, or one that
// only another route's options took from them.
func (b *usageRecord) addRule(o *resolve.Verdict) {
	if o.Void != "" {
		return
	}
	for at := range b.findHolders(o) {
		b.used[o.Layers[at].Policy] = true
	}
	route := func(at int) model.Ref { return b.graph.Node(o.Layers[at].Node).Ref.WithoutSection() }
	for _, l := range o.Losses() {
		elsewhere := func(w merge.Winner) bool { return route(w.Layer) != route(l.From.Layer) }
		if (l.Reason == merge.MoreSpecificWins || l.Reason == merge.LessSpecificOverrides) &&
			slices.ContainsFunc(l.To, elsewhere) {
			b.used[o.Layers[l.From.Layer].Policy] = true
		}
	}
}

// addListener notes which options a listener uses, and which it warns of.
func (b *usageRecord) addListener(id topology.NodeID, o *resolve.Verdict) {
	holders := b.findHolders(o)
	var users []string
	var unused []*policy.Policy
	for i, at := range orderLayers(o.Layers) {
		p := o.Layers[at].Policy
		name := p.Ref().FullName()
		switch {
		case i == 0 || holders[at]:
			b.used[p] = true
			if !slices.Contains(users, name) {
				users = append(users, name)
			}
		default:
			unused = append(unused, p)
		}
	}
	for _, p := range unused {
		if name := p.Ref().FullName(); !slices.Contains(users, name) {
			b.addWarning(p, b.graph.Node(id).Ref, name, users)
		}
	}
}

// addWarning notes that a listener does not use an option.
func (b *usageRecord) addWarning(p *policy.Policy, listener model.Ref, name string, users []string) {
	kind, owner := b.kind.GroupKind.Kind, listener.WithoutSection()
	var text string
	switch kind {
	case "VirtualHostOption":
		text = fmt.Sprintf(
			"%s '%s' not attached to listener '%s' on %s '%s' due to conflict with more specific or older %ss '%s'",
			kind, name, listener.Section, owner.Kind, owner.FullName(), kind, strings.Join(users, ", "))
	case "ListenerOption":
		text = fmt.Sprintf("%s '%s' not attached to listener '%s' on %s '%s' due to higher priority %s '%s'",
			kind, name, listener.Section, owner.Kind, owner.FullName(), kind, strings.Join(users, ", "))
	default: // nothing is said of the others
		return
	}
	if !slices.Contains(b.warnings[p], text) {
		b.warnings[p] = append(b.warnings[p], text)
	}
}

// findHolders are the layers with a setting in force.
func (b *usageRecord) findHolders(o *resolve.Verdict) map[int]bool {
	out := map[int]bool{}
	for _, r := range o.Result.Rules {
		for _, f := range r.From {
			out[f.Layer] = true
		}
	}
	return out
}

// orderLayers are the layers in the order in which the controller takes them, place by place: the
// most specific first, and there the established one.
func orderLayers(layers []resolve.Layer) []int {
	same := func(a, b resolve.Layer) bool { return a.Node == b.Node && a.Level == b.Level }
	var out []int
	var rejected []int
	for end := len(layers); end > 0; {
		start := end - 1
		for start > 0 && same(layers[start-1], layers[end-1]) && layers[start-1].Rejected == layers[end-1].Rejected {
			start--
		}
		for i := start; i < end; i++ {
			if layers[i].Rejected {
				rejected = append(rejected, i)
			} else {
				out = append(out, i)
			}
		}
		end = start
	}
	return append(out, rejected...)
}
