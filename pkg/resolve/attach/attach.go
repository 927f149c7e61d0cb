package attach

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// attacher finds the targets of the policies of a kind.
type attacher struct {
	*policy.Kind
	*Attachments
	res    *Targets
	unread func(policy.TargetRef) []string
	checks []policy.AttachedCheck // of the kind; nil: not asked for yet
}

// attachAll finds the targets of every policy of the kind by hash look-ups (engine E13).
func (k *attacher) attachAll() {
	k.askNamespaces()
	k.Table = make(map[topology.NodeID]Entry, len(k.Policies))
	k.MakeRoom(k.Policies)
	var own []policy.Attached // of the policy at hand
	var places model.Set[policy.AttachPoint]
	for _, p := range k.Policies {
		if p.Refused || !k.checkVisible(p) {
			continue
		}
		own = own[:0]
		places.Clear()
		to := k.TargetListOf(p)
		to.followed = true
		for i, ref := range p.Refs {
			found := k.dropFrontends(k.findTargets(p, ref))
			if len(found) == 0 {
				to.unresolved = append(to.unresolved, i)
				k.res.Problems = append(k.res.Problems, ProblemsOf(ref.Uncertain)...)
			}
			for _, id := range found {
				a := policy.Attached{Policy: p, Node: id, Ref: i, Level: k.sectionLevel(ref, id)}
				if places.Has(a.Point()) {
					if k.res.Node(id).Role == topology.Frontend {
						continue // reported for the Service itself
					}
					k.res.addRefProblem(p, ref, model.Problem{Severity: model.Info, Code: model.DuplicateReference,
						Message: fmt.Sprintf("%s is named twice; it counts once", k.res.Node(id).Ref)})
					continue
				}
				places.Add(a.Point())
				k.addTarget(to, id)
				own = append(own, a)
			}
		}
		own = append(own, k.attachByVendor(p, to)...)
		to.SortNodes()
		if len(own) > 0 {
			k.judgePolicy(p)
			own = k.limitAncestors(p, own)
		}
		if p.Fault != "" && k.InError == policy.DropPolicy {
			continue
		}
		for _, a := range own {
			at := k.Table[a.Node]
			at.Policies = append(at.Policies, a)
			k.Table[a.Node] = at
		}
	}
	for id, at := range k.Table {
		if len(at.Policies) > 1 {
			at.Policies, at.AgeIgnored = k.Order(at.Policies)
			k.Table[id] = at
		}
	}
	k.attachByFilters()
	k.reportMissingReferences()
	k.markVoids()
	k.runLints()
}

// addTarget notes that a node is among the targets of a policy.
func (k *attacher) addTarget(to *TargetList, id topology.NodeID) {
	to.Nodes = append(to.Nodes, id)
	role := k.res.Node(id).Role
	k.TargetsBesidePath = k.TargetsBesidePath || role == topology.Namespace || role == topology.Backend
}

// attachByVendor attaches a policy where its vendor's own functions find targets.
func (k *attacher) attachByVendor(p *policy.Policy, to *TargetList) []policy.Attached {
	var out []policy.Attached
	var held map[topology.NodeID]bool
	finders := k.res.FindersOf(p.Kind)
	for i, form := range p.Kind.Refs {
		find := finders[i].Find
		switch {
		case form.Attach != nil:
			find = func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
				return form.Attach(p, k.res.Graph, k.res.Snapshot, k.Settings)
			}
		case find == nil:
			continue
		}
		found, problems := find(p)
		k.res.Problems = append(k.res.Problems, problems...)
		if held == nil && len(found) > 0 {
			held = make(map[topology.NodeID]bool, len(to.Nodes))
			for _, id := range to.Nodes {
				held[id] = true
			}
		}
		for _, a := range found {
			if !held[a.Node] {
				held[a.Node] = true
				k.addTarget(to, a.Node)
				out = append(out, a)
			}
		}
	}
	return out
}

// runLints reports what the kind's vendor has to say about the places where its policies are
// attached.
func (k *attacher) runLints() {
	if len(k.Table) == 0 {
		return
	}
	for _, lint := range k.Lints {
		k.res.Problems = append(k.res.Problems, lint(k.Kind, k.res.Graph,
			func(id topology.NodeID) []policy.Attached { return k.Table[id].Policies })...)
	}
}

// addRefProblem reports something about one reference of a policy.
func (r *Targets) addRefProblem(p *policy.Policy, ref policy.TargetRef, problem model.Problem) {
	problem = problem.At(p.Object)
	origin := ref.Origin()
	problem.Origin = &origin
	r.Problems = append(r.Problems, problem)
}

// findTargets returns the nodes that one reference of a policy means.
func (k *attacher) findTargets(p *policy.Policy, t policy.TargetRef) []topology.NodeID {
	warn := func(code model.Code, hint, format string, args ...any) {
		k.res.addRefProblem(p, t, model.Problem{Severity: model.Warning, Code: code, Message: fmt.Sprintf(format,
			args...), Hint: hint})
	}
	// what it would be is not known; the variable is reported
	if model.HasVariable(t.Ref.Kind) || model.HasVariable(t.Ref.Group) {
		return nil
	}
	if !p.Kind.AllowsTarget(t.Ref) {
		form := strings.ToLower(t.Ref.Kind)
		if t.Ref.Section != "" {
			form += " with a sectionName"
		}
		hint := "it may target: " + listTargetForms(p.Kind.Targets)
		for _, f := range p.Kind.Targets {
			if f.GroupKind.Kind == t.Ref.Kind && f.GroupKind.Group != t.Ref.Group {
				hint = fmt.Sprintf("its group is %q; it has to be %q", t.Ref.Group, f.GroupKind.Group)
			}
		}
		warn(model.InvalidTarget, hint, "%s may not target %s: the policy does not attach there",
			p.Kind.GroupKind.Kind, form)
		return nil
	}
	ref := t.Ref
	if IsClusterScoped(ref.GroupKind()) {
		ref.Namespace = ""
	}
	if home := p.Ref().Namespace; leavesNamespace(p.Kind, home, ref) &&
		!(t.Selection != nil && IsClusterScoped(ref.GroupKind())) {
		switch {
		case p.Kind.Namespaces == policy.OwnNamespace:
			warn(model.CrossNamespaceTarget, "move the policy to the target's namespace",
				"%s is not in the policy's namespace %s: not attached", ref, home)
			return nil
		case p.Kind.Namespaces == policy.WithGrant && !k.res.Graph.IsGranted(p.Kind.GroupKind, home,
			ref.WithoutSection()):
			warn(model.RefNotPermitted, fmt.Sprintf("a ReferenceGrant in namespace %s must allow it",
				cmp.Or(ref.Namespace, ref.Name)), "no ReferenceGrant lets %s refer to %s: not attached", p.Ref(), ref)
			return nil
		}
	}
	if t.Selection != nil {
		return k.selectTargets(p, t, warn)
	}
	found := k.res.Graph.Lookup(ref)
	if len(found) > 0 && isPortNumber(ref) && !p.Kind.PortNumbers {
		hint := "it has no port with that number either"
		if names := k.res.Graph.DescribePorts(ref.WithoutSection()); len(names) > 0 {
			hint = "its ports are: " + strings.Join(names, ", ")
		}
		warn(model.TargetNotFound, hint, "%s has no port called %s: sectionName is the name of a port, and not its number",
			ref.WithoutSection(), ref.Section)
		return nil
	}
	if more := k.listenersInSets(t); len(more) > 0 {
		found = slices.Concat(found, more)
	}
	if t.Port != 0 && len(found) > 0 {
		if found = k.listenersByPort(t, found); len(found) == 0 {
			warn(model.TargetNotFound, "", "%s has no listener with port %d", ref, t.Port)
			return nil
		}
	}
	if len(found) > 0 {
		if t.RuleNameOnly && k.res.IsUnnamedRule(found[0], ref.Section) {
			warn(model.TargetNotFound, "give the rule a name",
				"%s has no rule called %q: a rule without a name cannot be targeted", ref.WithoutSection(), ref.Section)
			return nil
		}
		return found
	}
	return k.reportMissing(p, ref, t, warn)
}

// isPortNumber reports whether a reference gives the number of a port of a Service, and not its name: names
// have a letter.
func isPortNumber(ref model.Ref) bool {
	if ref.GroupKind() != gatewayapi.ServiceKind || ref.Section == "" {
		return false
	}
	_, err := strconv.ParseUint(ref.Section, 10, 16)
	return err == nil
}

// IsUnnamedRule reports whether a node is a rule that does not have the name itself.
func (r *Targets) IsUnnamedRule(id topology.NodeID, name string) bool {
	n := r.Node(id)
	return n.Role == topology.Rule && n.Object.Text("spec", "rules", strconv.Itoa(n.Index), "name") != name
}

// leavesNamespace reports whether a reference goes out of the policy's namespace: to an object
// elsewhere, or to another Namespace.
func leavesNamespace(k *policy.Kind, home string, ref model.Ref) bool {
	if ref.Kind == "Namespace" && ref.Group == "" {
		return !k.ClusterScoped && ref.Name != home
	}
	return ref.Namespace != "" && ref.Namespace != home
}

// reportMissing says why a reference leads nowhere, or returns a node for what no graph can know.
func (k *attacher) reportMissing(p *policy.Policy, ref model.Ref, t policy.TargetRef, warn func(model.Code, string,
	string, ...any)) []topology.NodeID {
	g := k.res.Graph
	if k.res.Snapshot.Cluster.IsUnreadRef(ref) && k.res.Snapshot.Get(ref) == nil {
		warn(model.NotEvaluated, "ask for the permission to list "+strings.ToLower(descriptor.PluralOf(ref.Kind)),
			"%s is forbidden: cannot tell whether the policy attaches there", ref)
		return nil
	}
	if !g.IsKnownKind(ref.GroupKind()) {
		warn(model.UnknownKind, "add the CRD of the kind if it is one",
			"%s is of a kind that is neither built in nor in the input: nothing is inherited there", ref)
		return []topology.NodeID{k.res.OpaqueNode(ref, nil)}
	}
	if o := k.res.Snapshot.Get(ref); o != nil && len(g.Lookup(ref.WithoutSection())) == 0 && ref.Section == "" {
		return []topology.NodeID{k.res.OpaqueNode(ref, o)}
	}
	// no rule sends there, but something else may
	if o := k.res.Snapshot.Get(ref); o != nil && (g.IsNumberedPort(ref) || g.HasBackendSection(ref, o)) {
		return []topology.NodeID{k.res.OpaqueNode(ref, o)}
	}
	if t.Silent {
		return nil
	}
	switch e := k.res.Snapshot.FindExistence(ref); {
	case e.Presence == model.Present && k.res.Snapshot.Get(ref) == nil: // something in the input makes it
		return []topology.NodeID{k.res.OpaqueNode(ref, nil)}
	case e.Presence == model.NotKnown:
		k.res.addRefProblem(p, t, model.Problem{Severity: model.Info, Code: model.NotEvaluated, MissingRef: &ref,
			Message: "cannot tell whether the policy attaches: " + e.Why})
		return nil
	}
	if ref.Section != "" && (len(g.Lookup(ref.WithoutSection())) > 0 || k.res.Snapshot.Get(ref) != nil) {
		hint := "it has no sections that can be targeted"
		if sections := g.Sections(ref); len(sections) > 0 {
			hint = "it has: " + strings.Join(sections, ", ")
		}
		whole := ref.WithoutSection()
		k.res.addRefProblem(p, t, model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: hint,
			MissingRef: &ref, SuggestedRef: &whole,
			Message: fmt.Sprintf("%s has no section %q: the policy does not attach, not even to the whole object",
				whole, ref.Section)})
		return nil
	}
	hint, meant := k.res.hintOf(ref)
	k.res.addRefProblem(p, t, model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: hint,
		MissingRef: &ref, SuggestedRef: meant,
		Message: fmt.Sprintf("%s is not found: the policy does not attach", ref)})
	return nil
}

func listTargetForms(forms []policy.TargetForm) string {
	var out []string
	for _, f := range forms {
		out = append(out, f.String())
	}
	return strings.Join(out, ", ")
}

// targetContest decides which of several policies on one target stay.
type targetContest struct {
	*policy.Kind
	*Attachments
	res *Targets
}

// meeting is the policies that compete at a target, in their order.
type meeting struct {
	node       topology.NodeID
	place      string // of several at one target
	policies   []policy.Attached
	ageIgnored bool
}

// listContests returns the meetings of several policies.
func (k targetContest) listContests() []meeting {
	return slices.DeleteFunc(k.listMeetings(), func(m meeting) bool { return len(m.policies) < 2 })
}

// listMeetings returns who competes with whom, by the references of the targets.
func (k targetContest) listMeetings() []meeting {
	placeOf := func(policy.Attached) (string, bool) { return "", true }
	if k.Contest != nil {
		placeOf = k.Contest(k.Kind, k.res.Graph, k.res.Snapshot)
	}
	var out []meeting
	for id, at := range k.Table {
		first := len(out)
		for _, a := range at.Policies {
			place, ok := placeOf(a)
			if !ok {
				continue
			}
			i := slices.IndexFunc(out[first:], func(m meeting) bool { return m.place == place })
			if i < 0 {
				i = len(out) - first
				out = append(out, meeting{node: id, place: place, ageIgnored: at.AgeIgnored})
			}
			out[first+i].policies = append(out[first+i].policies, a)
		}
	}
	slices.SortFunc(out, func(a, b meeting) int {
		return cmp.Or(k.res.Node(a.node).Ref.Compare(k.res.Node(b.node).Ref), cmp.Compare(a.node, b.node),
			cmp.Compare(a.place, b.place))
	})
	return out
}

// rejectLosers runs the same-target models that reject policies, node by node, before any fold
// (engine E8).
func (k targetContest) rejectLosers() {
	switch {
	case k.SameTarget == policy.Disjoint:
		k.RejectedAt = map[topology.NodeID][]Rejection{}
		k.rejectClashing()
		return
	case k.SameTarget == policy.AllLose, k.SameTarget == policy.Unstated:
		k.RejectedAt = map[topology.NodeID][]Rejection{}
		k.rejectAll()
		return
	case k.RejectsWhole:
		k.rejectEverywhere()
		return
	}
	ids := make([]topology.NodeID, 0, len(k.Table))
	for id, p := range k.Table {
		if len(p.Policies) > 1 && KeepsFirstOnly(k.Kind, p) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	k.RejectedAt = map[topology.NodeID][]Rejection{}
	for _, id := range ids {
		p := k.Table[id]
		var kept []policy.Attached // the first of every level
		for _, a := range p.Policies {
			first := slices.IndexFunc(kept, a.IsAtSamePlace)
			if first < 0 {
				kept = append(kept, a)
				continue
			}
			v := Rejection{Attached: a, By: kept[first].Policy, Decision: DecisionBetween(k.Kind, kept[first], a,
				p.AgeIgnored), Silent: k.SameTarget != policy.Conflict}
			k.Rejected = append(k.Rejected, v)
			k.RejectedAt[id] = append(k.RejectedAt[id], v)
		}
		p.Policies = kept
		k.Table[id] = p
	}
}

// KeepsFirstOnly reports whether only the first policy of the place stays. A direct kind is folded
// instead: strategy none says the same.
func KeepsFirstOnly(k *policy.Kind, p Entry) bool {
	switch k.SameTarget {
	case policy.First:
		return true
	case policy.Conflict:
		return !k.Direct
	case policy.Oldest:
		first := p.Policies[0].Policy
		for _, b := range first.Blocks {
			if first.StrategyName(b.Kind) != "atomic" {
				return false
			}
		}
		return true
	}
	return false
}

// dropFrontends drops of the nodes that stand for a target the Service as a parent, if nothing
// below it is the kind's business: a kind that is in force at Services themselves, or does not know
// the mesh.
func (k *attacher) dropFrontends(ids []topology.NodeID) []topology.NodeID {
	if k.Family != topology.Traffic && (k.HasResultsAt(topology.Rule) || k.HasResultsAt(topology.Route) ||
		k.HasResultsAt(topology.Frontend)) {
		return ids
	}
	frontend := func(id topology.NodeID) bool { return k.res.Node(id).Role == topology.Frontend }
	if !slices.ContainsFunc(ids, frontend) {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), frontend)
}

// judgePolicy runs the kind's checks on a policy that is attached, and says if that voids what it
// is attached to.
func (k *attacher) judgePolicy(p *policy.Policy) {
	if k.checks == nil {
		k.checks = k.AttachedChecks(k.Checks, k.res.Graph, k.res.Snapshot)
	}
	k.res.Problems = append(k.res.Problems, k.RunChecks(k.checks, p, k.NodesOf(p))...)
	if p.Fault != "" && k.InError == policy.VoidResult {
		k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning, Code: model.PolicyInError,
			Message: fmt.Sprintf(
				"the policy is in error: %s. No policy of kind %s is in force where it is attached", p.Fault,
				k.GroupKind.Kind)}.At(p.Object))
	}
}

// judgeWinners runs the checks on policies that no other one has kept out. Those in error are taken
// from their targets.
func (k *attacher) judgeWinners() {
	if len(k.LaterChecks) == 0 {
		return
	}
	checks := k.AttachedChecks(k.LaterChecks, k.res.Graph, k.res.Snapshot)
	for _, p := range k.Policies {
		if p.Refused || p.Fault != "" || len(k.NodesOf(p)) == 0 ||
			slices.ContainsFunc(k.Rejected, func(v Rejection) bool { return v.Attached.Policy == p }) {
			continue
		}
		k.res.Problems = append(k.res.Problems, k.RunChecks(checks, p, k.NodesOf(p))...)
		if p.Fault == "" || k.InError != policy.DropPolicy {
			continue
		}
		for _, id := range k.NodesOf(p) {
			at := k.Table[id]
			at.Policies = slices.DeleteFunc(slices.Clone(at.Policies), func(a policy.Attached) bool { return a.Policy == p })
			k.Table[id] = at
		}
	}
}
