package request

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ruleBody returns what the manifest says of a rule.
func ruleBody(n *topology.Node) model.Body {
	return n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
}

// RuleFilters returns the filters of the rule that takes the request, in their order.
func (a *Answer) RuleFilters(g *topology.Graph) []model.Body {
	if a.Rule == topology.None || g.Node(a.Rule).Object == nil {
		return nil
	}
	var out []model.Body
	for _, f := range ruleBody(g.Node(a.Rule)).Field("filters").Items {
		out = append(out, f)
	}
	return out
}

// BackendExtensions returns what filters of the rule's backends name, in their order.
func (a *Answer) BackendExtensions(g *topology.Graph) []model.Ref {
	if a.Rule == topology.None || g.Node(a.Rule).Object == nil {
		return nil
	}
	var out []model.Ref
	n := g.Node(a.Rule)
	for _, b := range ruleBody(n).Field("backendRefs").Items {
		for _, f := range b.Field("filters").Items {
			if f.Text("type") == "ExtensionRef" {
				out = append(out, readExtension(f, n))
			}
		}
	}
	return out
}

// readExtension returns what a filter of a route names.
func readExtension(filter model.Body, route *topology.Node) model.Ref {
	to := filter.Field("extensionRef")
	return model.Ref{Group: to.Text("group"), Kind: to.Text("kind"), Namespace: route.Object.Ref.Namespace,
		Name: to.Text("name")}
}

// matchProblem reports a match that takes no part.
func matchProblem(n *topology.Node, what string) model.Problem {
	return model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: "rule " + n.Ref.Section + ": " +
		what + "; the match is ignored"}.
		At(n.Object, "spec", "rules", strconv.Itoa(n.Index), "matches")
}

// applyRule says what the chosen rule makes of the request. Filters never influence the choice.
func (t *trace) applyRule() {
	a, n := t.answer, t.matcher.graph.Node(t.answer.Rule)
	a.Outcome = Matched
	body := ruleBody(n)
	rewrite, restricting := t.readFilters(body, n)
	t.noteFilterOrder()
	if a.Location != nil {
		a.Outcome, a.Status = Redirect, a.Location.Status
		if a.Location.loops {
			t.addReason("the redirect leads to the request itself: clients that follow it never get another answer")
		}
	} else {
		t.collectBackends()
		a.Sends = t.buildSent(body)
		if a.Sends != nil && rewrite != nil {
			a.Sends.Path = rewrite(a.Sends.Path)
		}
	}
	if t.delegation == "" && n.Delegates {
		t.delegation = "delegation from " + n.Ref.String() + " is not evaluated"
	}
	if t.delegation != "" {
		// another rule may take it: one of those routes, or where none of theirs does, one that
		// comes later
		a.makeRuleUncertain(t.delegation)
	}
	for _, f := range restricting {
		a.makeRuleUncertain(f.describe() + " restricts which requests the rule takes")
	}
	for _, f := range a.OpenFilters {
		a.makeConditional(f.describe() + " may answer the request itself")
		a.addProblem(model.Info, model.NotEvaluated, n.Object, f.describe()+" of "+n.Ref.String()+
			" is not evaluated: what it does, only the data plane knows", "")
	}
}

// readFilters collects the filters of the rule. It returns what one of the implementation's own makes
// of the path, nil if none changes it, and those that restrict which requests the rule takes.
func (t *trace) readFilters(rule model.Body, n *topology.Node) (rewrite func(path string) string,
	restricting []OpenFilter) {
	a := t.answer
	for _, f := range rule.Field("filters").Items {
		kind := f.Text("type")
		a.Filters = append(a.Filters, kind)
		switch kind {
		case "RequestRedirect":
			if a.Location == nil {
				a.Location = t.buildLocation(f.Field("requestRedirect"), t.sure[0].match)
			}
		case "ExtensionRef":
			ref := readExtension(f, n)
			effect, known := t.matcher.graph.ReadFilter(a.Gateway, ref)
			if effect.Restricts {
				restricting = append(restricting, OpenFilter{kind, ref})
			}
			if !known || effect.Path != nil && (rewrite != nil || rewritesPath(rule)) {
				a.OpenFilters = append(a.OpenFilters, OpenFilter{kind, ref})
			} else if effect.Path != nil {
				rewrite = effect.Path
			}
		case "RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "URLRewrite", "CORS":
		default:
			a.OpenFilters = append(a.OpenFilters, OpenFilter{Type: kind})
		}
	}
	return rewrite, restricting
}

// rewritesPath reports whether a filter of the Gateway API rewrites the path.
func rewritesPath(rule model.Body) bool {
	for _, f := range rule.Field("filters").Items {
		if f.Field("urlRewrite").Has("path") {
			return true
		}
	}
	return false
}

// collectBackends collects the backends that can be used. Without any the answer is an error
// (gatewayapi G35).
func (t *trace) collectBackends() {
	a := t.answer
	var broken []string
	var foreign []model.Ref
	total, lost := 0, 0
	all := t.matcher.graph.BackendRefs(a.Rule)
	for _, b := range all {
		total += b.Weight
		switch {
		case strings.HasSuffix(b.Ref.Kind, "Route"):
			t.delegation = b.Message
			a.Backends = append(a.Backends, b)
		case b.Reason != "":
			broken = append(broken, b.Message)
			lost += b.Weight
			if b.Foreign && b.Weight > 0 && t.settings.Name == "" {
				foreign = append(foreign, b.Ref)
			}
		case b.Weight > 0:
			a.Backends = append(a.Backends, b)
		}
	}
	switch {
	case len(a.Backends) == 0:
		a.Outcome = BackendError
		a.Status = t.backendErrorStatus(total == 0 && (len(all) > 0 || len(a.Filters) > 0))
		why := "the rule has no backend"
		if len(broken) > 0 {
			why = "no backend can be used: " + strings.Join(broken, "; ")
		} else if total == 0 && len(all) > 0 {
			why = "all backends have weight 0"
		}
		t.addReason(why)
	case lost > 0:
		a.Failing = fmt.Sprintf("%d of %d requests fail: %s", lost, total, strings.Join(broken, "; "))
		t.addReason(a.Failing)
	}
	t.checkForeignBackends(foreign)
}

// backendErrorStatus returns the status of an answer by a rule that has no usable backend; 0 where no
// HTTP is spoken.
func (t *trace) backendErrorStatus(zeroWeights bool) int {
	of := t.settings.Statuses
	best := &t.sure[0]
	switch {
	case !t.canAnswerHTTP():
		return 0
	case zeroWeights && of.ZeroWeights != 0:
		return of.ZeroWeights
	case best.match != nil && best.match.grpc && of.NoGRPCBackend != 0:
		return of.NoGRPCBackend
	}
	return 500
}

// noteRepeated notes headers and parameters that are repeated, of which the first is compared.
func noteRepeated(a *Answer) {
	r := &a.Request
	if r.Protocol != HTTP {
		return
	}
	if name := findRepeated(r.Headers, strings.EqualFold); name != "" {
		a.addProblem(model.Info, model.NotEvaluated, nil, "header "+name+" is repeated: its first value is compared",
			"")
	}
	if name := findRepeated(r.Query, func(a, b string) bool { return a == b }); name != "" {
		a.addProblem(model.Info, model.NotEvaluated, nil, "query parameter "+name+
			" is repeated: its first value is compared", "")
	}
}

func findRepeated(fields []Field, same func(a, b string) bool) string {
	for i, f := range fields {
		if slices.ContainsFunc(fields[:i], func(o Field) bool { return same(o.Name, f.Name) }) {
			return f.Name
		}
	}
	return ""
}
