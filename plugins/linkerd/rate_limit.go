package linkerd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findLimitedServer is the Server that a rate limit is for.
func findLimitedServer(o *model.Object) (model.Ref, bool) {
	r := readReference(o.Body.At("spec", "targetRef"), "")
	return model.Ref{Group: group, Kind: "Server", Namespace: o.Ref.Namespace, Name: r.name}, r.isKind(serverKind)
}

// newLimitFinder finds the Server that a rate limit is for.
func newLimitFinder(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.PointFinder {
	return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
		problem := func(code model.Code, format string, args ...any) []model.Problem {
			return []model.Problem{model.Problem{Severity: model.Warning, Code: code, Message: fmt.Sprintf(format,
				args...)}.At(p.Object)}
		}
		ref, ok := findLimitedServer(p.Object)
		if !ok {
			return nil, problem(model.InvalidTarget, "only a Server can be a target: the policy does not apply")
		}
		o := in.Get(ref)
		id := findNode(g, ref, serverRole)
		if o == nil || id == topology.None {
			if e := in.FindExistence(ref); e.Presence == model.NotKnown {
				return nil, problem(model.NotEvaluated, "%s", e.Why)
			}
			return nil, problem(model.TargetNotFound, "%s is not found: the policy does not apply", ref)
		}
		if v := readServer(o); !v.countsRequests() {
			return []topology.NodeID{id}, problem(model.NotReached,
				"%s has the proxyProtocol %s, with which no proxy counts requests: the policy is accepted and has no effect", ref, v.protocol)
		}
		return []topology.NodeID{id}, nil
	}
}

// countsRequests reports whether proxies count requests at the Server.
func (v *server) countsRequests() bool {
	return slices.Contains([]string{"HTTP/1", "HTTP/2", "unknown"}, v.protocol)
}

// findLimit is the rate limit that proxies count by at a Server: of several the oldest, or the first by
// name (IX client_ratelimit); nil: they count nothing.
func (w *meshIndex) findLimit(v *server) *model.Object {
	if !v.countsRequests() {
		return nil
	}
	if w.limits == nil {
		w.limits = map[model.Ref]*model.Object{}
		for _, o := range w.in.OfKind(rateLimitKind) {
			ref, ok := findLimitedServer(o)
			first := w.limits[ref]
			if ok && (first == nil || compareAge(o, first, o.Created.IsZero() || first.Created.IsZero()) < 0) {
				w.limits[ref] = o
			}
		}
	}
	return w.limits[v.object.Ref]
}

// newLimitSituator is the oldest rate limit of a Server, whole (IX client_ratelimit).
func newLimitSituator(g *topology.Graph, in *model.Snapshot, s model.Settings) func(topology.NodeID) *policy.Situation {
	if !isPresent(in, s) {
		return nil
	}
	set := readSettings(s)
	return func(id topology.NodeID) *policy.Situation {
		n := g.Node(id)
		if n.Role != serverRole {
			return nil
		}
		counted := readServer(n.Object).countsRequests()
		return &policy.Situation{Key: fmt.Sprint(counted), Place: func(*policy.Policy) (topology.NodeID,
			topology.Role) {
			return id, serverRole
		},
			Fold: func(layers []*policy.Policy) merge.PlanFunc {
				return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldLimits(layers, counted, set) }
			}}
	}
}

func foldLimits(layers []*policy.Policy, counted bool, set settings) ([]merge.Unit, []merge.Effect) {
	var m merge.Output
	for i, l := range layers {
		values := map[string]any{}
		for _, name := range []string{"total", "identity"} {
			if v := l.Object.Get("spec", name); v != nil {
				values[name] = v
			}
		}
		if list := l.Object.Body.At("spec", "overrides"); list.Len() > 0 {
			values["overrides"] = readOverrides(list, l.Object.Ref.Namespace, set)
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			switch {
			case !counted:
				m.Lose(merge.KeyPath(name), values[name], i, merge.Ignored)
			case i == 0:
				m.Take(merge.KeyPath(name), values[name], i)
			default:
				m.Lose(merge.KeyPath(name), values[name], i, merge.Conflicted, 0)
			}
		}
	}
	return m.Units, m.Effects
}

// readOverrides are the limits of single clients, with the identities that their ServiceAccounts
// have.
func readOverrides(list model.Body, namespace string, set settings) []any {
	var out []any
	for _, e := range list.Items {
		o, _ := e.Value().(map[string]any)
		if o == nil {
			continue
		}
		ids := []any{}
		for _, ref := range e.Field("clientRefs").Items {
			ids = append(ids, set.serviceAccountIdentity(cmp.Or(ref.Text("namespace"), namespace), ref.Text("name")))
		}
		o = maps.Clone(o)
		o["clientIdentities"] = ids
		out = append(out, o)
	}
	return out
}

// limitConditions is the condition that Linkerd writes about rate limits (ST target_ref_status).
func limitConditions(r *resolve.Resolution, _ *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	first := map[model.Ref]*policy.Policy{}
	timeless := slices.ContainsFunc(fates,
		func(f *status.PolicyOutcome) bool { return f.Policy.Object.Created.IsZero() })
	for _, f := range fates {
		p := f.Policy
		if ref, ok := findLimitedServer(p.Object); ok && !p.Refused && (first[ref] == nil ||
			compareAge(p.Object, first[ref].Object, timeless) < 0) {
			first[ref] = p
		}
	}
	out := map[*policy.Policy][]status.Ancestor{}
	for _, f := range fates {
		ref, ok := findLimitedServer(f.Policy.Object)
		c := status.Condition{Type: "Accepted", Status: "True", Reason: "Accepted",
			Message: "it is the first on its Server"}
		switch {
		case !ok || r.Snapshot.Get(ref) == nil && !r.Snapshot.Cluster.IsUnreadRef(ref):
			c.Status, c.Reason, c.Message = "False", "NoMatchingTarget", "the target is no Server, or does not exist"
		case r.Snapshot.Get(ref) == nil:
			c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", ref.String()+" is forbidden"
		case first[ref] != f.Policy:
			c.Status, c.Reason, c.Message = "False", "RateLimitReasonAlreadyExists", first[ref].Ref().FullName()+
				" is older, or comes first by name"
		}
		out[f.Policy] = []status.Ancestor{{Conditions: []status.Condition{c}}}
	}
	return out
}
