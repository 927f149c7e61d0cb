package kuma

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// inboundPolicy is a policy about inbounds.
type inboundPolicy struct {
	object *model.Object
	picks  *proxySelector
}

// listInboundPolicies lists the policies of a kind that the API server takes, weakest first.
func listInboundPolicies(r *resolve.Resolution, gk model.GroupKind, s model.Settings) []inboundPolicy {
	k := r.Kind(gk)
	if k == nil {
		return nil
	}
	var all []policy.Attached
	for i, p := range k.Policies {
		if !p.Refused {
			all = append(all, policy.Attached{Policy: p, Ref: -1, Index: i})
		}
	}
	all, _ = k.Order(all)
	out := make([]inboundPolicy, len(all))
	for i, a := range all {
		o := a.Policy.Object
		out[i] = inboundPolicy{o, newSelector(o, computeLabels(o, r.Snapshot, s), s)}
	}
	return out
}

// selectsInbound reports whether a policy is about an inbound of a proxy. Of a proxy that may have other
// labels it is not known whether one that asks for labels is.
func (p *inboundPolicy) selectsInbound(m *member, inbound int) selector.Truth {
	found := p.picks.selectProxy(m.proxy)
	switch {
	case found.unknown:
		return selector.Maybe
	case found.why == "" && inbound == someInbound && p.picks.ref.Text("sectionName") != "":
		return selector.Maybe
	case found.why == "" && inbound == someInbound:
		return selector.Yes
	case found.why == "":
		return truthOf(slices.Contains(found.sections, inbound))
	case m.labelsUnknown && p.picks.kind == "Dataplane" && p.mayHaveLabels(m.proxy.labels):
		return selector.Maybe
	}
	return selector.No
}

// mayHaveLabels reports whether what has these labels, and perhaps others, is what a policy asks for.
func (p *inboundPolicy) mayHaveLabels(have map[string]string) bool {
	if role := p.picks.policyRole(); (role == consumerRole || role == workloadOwnerRole) &&
		p.picks.labels[namespaceLabel] != have[namespaceLabel] || p.picks.isShadow || p.picks.mesh != have[meshLabel] {
		return false
	}
	for key, value := range p.picks.ref.Field("labels").Fields {
		if own, ok := have[key]; ok && own != value.Text() {
			return false
		}
	}
	return p.picks.ref.Field("labels").Len() > 0
}

// permissions are the MeshTrafficPermissions at an inbound.
type permissions struct {
	certain []*model.Object
	perhaps []*model.Object // of which it is not known whether they are about it
}

// findPermissions lists the permissions at an inbound.
func (j *hopJudge) findPermissions(m *member, inbound int) permissions {
	var out permissions
	for i := range j.permissions {
		p := &j.permissions[i]
		switch p.selectsInbound(m, inbound) {
		case selector.Yes:
			out.certain = append(out.certain, p.object)
		case selector.Maybe:
			out.perhaps = append(out.perhaps, p.object)
		}
	}
	return out
}

// listRefs lists the permissions: those that deny first, as they are asked first.
func (p *permissions) listRefs() []model.Ref {
	out := []model.Ref{}
	for _, denies := range []bool{true, false} {
		for _, o := range slices.Concat(p.certain, p.perhaps) {
			if hasDeny(o) == denies {
				out = append(out, o.Ref)
			}
		}
	}
	return out
}

// hasDeny reports whether a permission denies somebody.
func hasDeny(o *model.Object) bool {
	return slices.ContainsFunc(listItems(o.Body.At("spec", "rules")), func(rule model.Body) bool {
		return rule.At("default", "deny").Len() > 0
	})
}

func listItems(list model.Body) []model.Body {
	var out []model.Body
	for _, item := range list.Items {
		out = append(out, item)
	}
	return out
}

// ask asks the permissions about a client: any deny decides before any allow, and without an allow
// nobody gets in (policies/meshtrafficpermission/xds/rbac_configurer.go:123-149).
func (p *permissions) ask(id identity) evaluate.Decision {
	d := askPermissions(p.certain, id)
	if len(p.perhaps) == 0 {
		return d
	}
	if other := askPermissions(slices.Concat(p.certain, p.perhaps), id); other.Outcome != d.Outcome {
		other.Outcome, other.Why = request.NotEvaluated, []string{
			"cannot tell which permissions are about it: not all of its labels and ports are in the input"}
		return other
	}
	return d
}

// permissionAsker asks permissions one after the other.
type permissionAsker struct {
	id     identity
	doubts []string
}

func askPermissions(list []*model.Object, id identity) evaluate.Decision {
	q := permissionAsker{id: id}
	deny, denies := q.match(list, "deny")
	doubts := q.doubts
	q.doubts = nil
	allow, allows := q.match(list, "allow", "allowWithShadowDeny")
	d := evaluate.Decision{Outcome: request.Denied}
	switch {
	case denies == selector.Yes:
		d.Stage, d.By, d.Why = "deny", deny, []string{"a permission denies it"}
	case allows == selector.No && len(list) == 0:
		d.Why = []string{"no MeshTrafficPermission is about the port, and without one that allows nobody gets in"}
	case allows == selector.No:
		d.Stage, d.Why = "allow", []string{"no permission allows it"}
		for _, o := range list {
			d.By = append(d.By, evaluate.Decider{Policy: o.Ref, Origin: o.Origin, Rule: "rules", Action: "allow"})
		}
	case denies == selector.Maybe:
		d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, "deny", deny, []string{"whether a permission denies it depends on " +
			joinDoubts(doubts)}
	case allows == selector.Maybe:
		d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, "allow", allow, []string{"whether a permission allows it depends on " +
			joinDoubts(q.doubts)}
	default:
		d.Outcome, d.Stage, d.By, d.Why = request.Allowed, "allow", allow, []string{"a permission allows it"}
	}
	return d
}

func joinDoubts(list []string) string {
	const most = 2
	out := ""
	for i, text := range list[:min(most, len(list))] {
		if i > 0 {
			out += ", "
		}
		out += text
	}
	return out
}

// match matches the entries of some lists of all rules, and returns those that hold best.
func (q *permissionAsker) match(list []*model.Object, names ...string) (by []evaluate.Decider, best selector.Truth) {
	add := func(o *model.Object, rule string, path []string, holds selector.Truth) {
		if holds > best {
			by, best = nil, holds
		}
		if holds == best && holds != selector.No {
			by = append(by, evaluate.Decider{Policy: o.Ref, Origin: o.OriginOf(path...), Rule: rule, Action: names[0]})
		}
	}
	for _, o := range list {
		for i, rule := range listItems(o.Body.At("spec", "rules")) {
			for _, name := range names {
				for n, m := range listItems(rule.At("default", name)) {
					add(o, fmt.Sprintf("rules[%d].%s[%d]", i, name, n), []string{"spec", "rules", fmt.Sprint(i)}, q.matchEntry(m))
				}
			}
		}
	}
	old := listOldItems(list)
	byTags := slices.ContainsFunc(old, func(item oldItem) bool { return !item.isForAll() })
	for n, item := range old {
		if !slices.Contains(names, oldActions[item.body.Text("default", "action")]) {
			continue
		}
		holds := truthOf(n == len(old)-1) // the strongest counts
		if byTags {
			holds = q.noteDoubt("the tags of the client (from), which are not evaluated")
		}
		add(item.object, fmt.Sprintf("from[%d]", item.index), []string{"spec", "from", fmt.Sprint(item.index)}, holds)
	}
	return by, best
}

// oldItem is an item of from (2.14), which is about clients with tags, or about all of the mesh.
type oldItem struct {
	object *model.Object
	index  int
	body   model.Body
}

// oldActions says in which list the action of an item would stand.
var oldActions = map[string]string{"Allow": "allow", "AllowWithShadowDeny": "allow", "Deny": "deny"}

// listOldItems lists the items of from, weakest first. They count in policies without rules.
func listOldItems(list []*model.Object) []oldItem {
	var out []oldItem
	for _, o := range list {
		if o.Body.At("spec", "rules").Len() > 0 {
			continue
		}
		for i, item := range listItems(o.Body.At("spec", "from")) {
			out = append(out, oldItem{o, i, item})
		}
	}
	return out
}

// isForAll reports whether an item is about all clients of the mesh.
func (item *oldItem) isForAll() bool {
	kind := item.body.Text("targetRef", "kind")
	return kind == "" || kind == "Mesh"
}

// matchEntry matches one entry of a list: all that it asks for has to hold.
func (q *permissionAsker) matchEntry(m model.Body) selector.Truth {
	holds := selector.Truth(selector.Yes)
	for key, value := range m.Fields {
		switch key {
		case "spiffeID":
			one, doubt := q.id.matchSpiffeID(value)
			if one == selector.Maybe {
				q.noteDoubt(doubt)
			}
			holds = min(holds, one)
		case "sni":
			holds = min(holds, q.noteDoubt("the server name (SNI) that the client's proxy sends"))
		default:
			holds = min(holds, q.noteDoubt(key+" of a match, which is not evaluated"))
		}
	}
	return holds
}

func (q *permissionAsker) noteDoubt(what string) selector.Truth {
	if !slices.Contains(q.doubts, what) {
		q.doubts = append(q.doubts, what)
	}
	return selector.Maybe
}
