package requirement

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// requestScope is the set of requests that a requirement is about, and what has to hold for them if
// that is no expression.
type requestScope struct {
	asked      space.Selection
	scope      space.Scope
	gateway    string // namespace/name
	listener   string
	namespaces []string // of the routes that take them

	require alternatives
	name    string // of a ready-made property
	allow   []string

	given bool      // they are named
	first yaml.Node // of what has to hold
}

func (q *requestScope) setPosition(n *yaml.Node) { q.first = *n }

// requestScopeOf is where what has to hold for requests is kept.
func requestScopeOf(r *Requirement) *requestScope {
	if r.requests == nil {
		r.requests = &requestScope{}
	}
	return r.requests
}

func readyPropertyNames() []string {
	var out []string
	for _, p := range prove.ReadyProperties() {
		out = append(out, p.Name)
	}
	return out
}

// readOver reads which requests a requirement is about.
func (r *requirementReader) readOver(req *Requirement, n *yaml.Node) {
	q := requestScopeOf(req)
	q.given = true
	var at *yaml.Node
	r.form.Object(n, map[string]form.Field{"requests": func(n *yaml.Node) {
		at = n
		if n.Kind == yaml.MappingNode && len(n.Content) == 0 { // all of them
			return
		}
		r.form.Object(n, map[string]form.Field{"hosts": r.form.Texts(&q.asked.Hosts),
			"paths": r.form.Texts(&q.asked.Paths), "methods": r.form.Texts(&q.asked.Methods),
			"headers": r.form.Texts(&q.asked.Headers), "gateway": r.form.Text(&q.gateway), "listener": r.form.Text(
				&q.listener), "namespaces": r.readGlobs(&q.namespaces, 0)})
	}})
	switch {
	case n.Kind != yaml.MappingNode:
	case at == nil:
		r.form.Fail(n, "field \"requests\" is missing: which requests it is about; {} is all of them")
	case q.gateway != "" && strings.Count(q.gateway, "/") != 1:
		r.form.Fail(at, "%q does not name a Gateway: write NAMESPACE/NAME", q.gateway)
	default:
		scope, err := q.asked.ToScope()
		if q.scope = scope; err != nil {
			r.form.Fail(at, "%s: %s", err.What, err.Hint)
		}
	}
}

// checkRequests checks a requirement about requests as a whole.
func (r *requirementReader) checkRequests(req *Requirement, n *yaml.Node) {
	q := req.requests
	if !q.given && q.name == "" && q.allow == nil { // it is about targets
		req.demands, req.requests = &q.require, nil
		if form.Member(n, "expression") != nil {
			r.form.Fail(&q.first, "only one of the fields require and expression says what has to hold")
		}
		return
	}
	if !q.given {
		r.form.Fail(&q.first,
			"what has to hold for requests takes field \"over\": which requests it is about, as {requests: {}}")
		return
	}
	for _, field := range []string{"select", "messageExpression"} {
		if form.Member(n, field) != nil {
			r.form.Fail(form.Member(n, field), "a requirement over requests has no %s", field)
		}
	}
	if uses := req.holds; uses != nil && len(uses.properties) > 0 {
		r.form.Fail(form.Member(n, "expression"),
			"over requests there is no variable %s: write require: [authentication], or drop over", protectionVar)
	}
	for _, entry := range q.allow {
		if err := prove.CheckAllowed(entry); err != nil {
			r.form.Fail(&q.first, "%s: %s", err.What, err.Hint)
		}
	}
	broken := req.holds == nil && form.Member(n, "expression") != nil || q.name == "" &&
		form.Member(n, "property") != nil
	query := prove.Query{Scope: q.scope, Require: q.require.kinds, Properties: q.require.properties, Property: q.name,
		Allow: q.allow}
	if req.holds != nil {
		query.Holds = func(*prove.BackendPath) (bool, string) { return true, "" }
	}
	if wrong := query.Check(); wrong != "" && !broken && len(q.require.properties) == 0 {
		r.form.Fail(n, "%s (fields require, expression, property)", wrong)
	}
}

// describe says which requests a requirement is about.
func (q *requestScope) describe() string {
	out := q.asked.Describe()
	if q.gateway != "" {
		out += " through Gateway " + q.gateway
	}
	if q.listener != "" {
		out += " at listener " + q.listener
	}
	if len(q.namespaces) > 0 {
		out += " taken by routes of " + map[bool]string{true: "namespace ",
			false: "namespaces "}[len(q.namespaces) == 1] + strings.Join(q.namespaces, ", ")
	}
	return out
}

// buildQuery is what is asked about an input; nothing and unknown say why nothing can be asked: the
// Gateway is not there, or a policy kind is not known.
func (c *proofConclusion) buildQuery() (query prove.Query, nothing, unknown string) {
	q, res := c.req.requests, c.evaluation.res
	query = prove.Query{Scope: q.scope, Properties: q.require.properties, Property: q.name, Allow: q.allow,
		Asked: q.describe()}
	query.Scope.Destination = space.AnyDestination()
	query.Scope.Destination.Listener = q.listener
	if q.gateway != "" {
		namespace, name, _ := strings.Cut(q.gateway, "/")
		found := res.Graph.Lookup(model.Ref{Group: gatewayv1.GroupName, Kind: "Gateway",
			Namespace: namespace, Name: name})
		if len(found) == 0 {
			return query, "there is no Gateway " + q.gateway, ""
		}
		query.Scope.Destination.Gateway = found[0]
	}
	if q.namespaces != nil {
		query.Routes = func(o *model.Object) bool { return matchesAny(q.namespaces, o.Ref.Namespace) }
	}
	for _, gk := range q.require.kinds {
		before := len(query.Require)
		for _, k := range res.Kinds {
			if matchesKindName(gk.String(), k.GroupKind) && !slices.Contains(query.Require, k.GroupKind) {
				query.Require = append(query.Require, k.GroupKind)
			}
		}
		if len(query.Require) == before {
			return query, "", "no policy kind called " + gk.String() + " is known"
		}
	}
	if c.req.holds != nil {
		query.Holds, query.Expression = (&requestEvaluator{judge: c.evaluation, req: c.req}).evaluatePath,
			c.req.holds.text
		query.Kinds = listKinds(c.req)
	}
	return query, "", ""
}

// listKinds returns the policy kinds that expressions look at; nil: all.
func listKinds(c *requirementCase) []model.GroupKind {
	if c.looks.allInForce {
		return nil
	}
	out := []model.GroupKind{}
	for _, k := range c.kinds {
		if !slices.Contains(out, k.GroupKind) {
			out = append(out, k.GroupKind)
		}
	}
	return out
}
