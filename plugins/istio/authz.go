package istio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// actions are the lists of authorization rules, in the order in which a proxy asks them (spec §5).
var actions = []string{"CUSTOM", "AUDIT", "DENY", "ALLOW"}

// authorization is what AuthorizationPolicies make of a target: lists of rules by action.
func authorization(at place) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.spaces()
	reader := "" // of the rules
	if at.member == tunneled {
		reader = "ztunnel"
	}
	return &policy.Situation{Key: key(proxy, service, reader), Compare: inOrder(at.world.root, proxy, service), Fold: func(layers []*policy.Policy) merge.PlanFunc {
		return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.authorize(layers) }
	}}
}

// authzPolicy is an AuthorizationPolicy as its rules are listed.
type authzPolicy struct {
	object   *model.Object
	action   string
	shadow   bool   // dry run
	provider string // of CUSTOM
	bad      string // why its CUSTOM rules deny
}

func readAuthz(o *model.Object) authzPolicy {
	p := authzPolicy{object: o, action: o.Text("spec", "action"), shadow: dryRun(o), provider: o.Text("spec", "provider", "name")}
	if p.action == "" {
		p.action = "ALLOW"
	}
	return p
}

// dryRun reports whether the policy is only tried. What is no boolean to Go is none to Istio.
func dryRun(o *model.Object) bool {
	switch o.Annotations["istio.io/dry-run"] {
	case "1", "t", "T", "TRUE", "true", "True":
		return true
	}
	return false
}

// authorize lists the rules of all policies by action: CUSTOM rules that no provider can answer deny.
func (at place) authorize(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	all := make([]authzPolicy, len(layers))
	for i, l := range layers {
		all[i] = readAuthz(l.Object)
	}
	at.judge(all)
	if at.member == tunneled {
		return tunnelRules(all)
	}
	var m merger
	for i, p := range all {
		if p.bad != "" && p.shadow { // what would be tried is not even that
			m.Lose(merge.Keys("shadow-CUSTOM"), layers[i].Object.Get("spec", "rules"), i, merge.Invalid)
		}
	}
	for _, action := range actions {
		for _, shadow := range []bool{false, true} {
			for i, p := range all {
				if p.listed() == action && p.shadow == shadow && !(p.bad != "" && p.shadow) {
					m.rules(i, p)
				}
			}
		}
	}
	for i, p := range all {
		switch p.action {
		case "CUSTOM", "AUDIT", "DENY", "ALLOW":
		default:
			m.Lose(merge.Keys(p.action), layers[i].Object.Get("spec"), i, merge.Invalid)
		}
	}
	return m.Units, m.Effects
}

// listed is the list in which the rules of a policy are.
func (p authzPolicy) listed() string {
	if p.bad != "" {
		return "DENY"
	}
	return p.action
}

// path is what Istio calls a rule of a policy, in a list.
func (p authzPolicy) path(list string, i int) merge.Path {
	return merge.Keys(list, fmt.Sprintf("ns[%s]-policy[%s]-rule[%d]", p.object.Ref.Namespace, p.object.Ref.Name, i))
}

// rules adds the rules of one policy, by the names that Istio gives them.
func (m *merger) rules(at int, p authzPolicy) {
	list := p.listed()
	if p.shadow {
		list = "shadow-" + list
	}
	add := func(i int, value any) {
		m.Take(p.path(list, i), value, at)
	}
	items := p.object.Body.At("spec", "rules")
	if items.Len() == 0 {
		add(0, "matches no request: the policy has no rules")
		return
	}
	i := 0
	for _, rule := range items.Items {
		value, ok := rule.Value().(map[string]any)
		switch {
		case !ok && rule.IsNull():
			value = map[string]any{}
		case !ok:
			value = map[string]any{"unreadable": rule.Value()}
		}
		if p.provider != "" {
			value["provider"] = p.provider
		}
		if p.bad != "" {
			value["denies"] = "bad CUSTOM action: " + p.bad
		}
		add(i, value)
		i++
	}
}

// judge finds out which CUSTOM policies no provider can answer: their rules deny.
func (at place) judge(all []authzPolicy) {
	names := map[string]bool{}
	for _, p := range all {
		if p.action == "CUSTOM" {
			names[p.provider] = true
		}
	}
	several := len(names) > 1 && !at.settings.Bool("istio.enableMultipleCustomAuthzProviders")
	for i := range all {
		p := &all[i]
		if p.action != "CUSTOM" {
			continue
		}
		switch found, known := at.world.answers(p.provider); {
		case several:
			p.bad = fmt.Sprintf("the workload has CUSTOM rules of %d providers", len(names))
		case at.world.isInvalid(p.provider):
			p.bad = "provider " + p.provider + " is invalid"
		case p.provider == "":
			p.bad = "it names no provider"
		case known && !found:
			p.bad = "there is no provider " + p.provider
		case known && !wellNamed(p.provider):
			p.bad = "no provider may be named " + p.provider
		}
	}
}

// asked finds the targets of an AuthorizationPolicy, and says where it is not known whether its provider can be asked.
func asked(w *world, p *policy.Policy) (found, []model.Problem) {
	out, problems := attached(w, p)
	if selector := p.Object.Body.At("spec", "selector"); selector.IsObject() && !selector.Field("matchLabels").IsObject() {
		n := len(out.targets)
		out.targets = slices.DeleteFunc(out.targets, func(t target) bool { return t.member == tunneled })
		if len(out.targets) < n {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
				Message: "its selector is empty, which to ztunnel is neither a namespace nor a workload: it holds at no workload whose traffic ztunnel takes", Hint: "leave the selector out"}.At(p.Object))
		}
	}
	a := readAuthz(p.Object)
	if _, known := w.answers(a.provider); a.action == "CUSTOM" && a.provider != "" && !known && !w.isInvalid(a.provider) {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf("whether the mesh has a provider %s is not known: if it has none, the rules deny", a.provider),
			Hint:    "add the ConfigMap istio of the root namespace, or --vendor-setting istio.extensionProviders='[…]'"}.At(p.Object))
	}
	return out, problems
}

// wellNamed reports whether a provider of CUSTOM rules may have a name.
func wellNamed(name string) bool {
	return len(name) <= 63 && !strings.ContainsFunc(name, func(c rune) bool { return c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') })
}

// isInvalid reports whether a provider is known to be no good.
func (m *mesh) isInvalid(name string) bool {
	for _, p := range m.invalid {
		if providerName(p) == name {
			return true
		}
	}
	return false
}
