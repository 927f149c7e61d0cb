package istio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// actions are the lists of authorization rules, in the order in which a proxy asks them.
var actions = []string{"CUSTOM", "AUDIT", "DENY", "ALLOW"}

// authorizationSituation is what AuthorizationPolicies make of a target: lists of rules by action.
func authorizationSituation(at foldTarget) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.policyNamespaces()
	reader := "" // of the rules
	if at.membership == ztunnelMember {
		reader = "ztunnel"
	}
	return &policy.Situation{Key: joinKey(proxy, service, reader),
		Compare: compareByNamespace(at.world.root, proxy, service), Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.foldAuthorization(layers) }
		}}
}

// authzPolicy is an AuthorizationPolicy as its rules are listed.
type authzPolicy struct {
	object        *model.Object
	action        string
	dryRun        bool   // dry run
	provider      string // of CUSTOM
	invalidReason string // why its CUSTOM rules deny
}

func readAuthzPolicy(o *model.Object) authzPolicy {
	p := authzPolicy{object: o, action: o.Text("spec", "action"), dryRun: isDryRun(o),
		provider: o.Text("spec", "provider", "name")}
	if p.action == "" {
		p.action = "ALLOW"
	}
	return p
}

// isDryRun reports whether the policy is only tried. What is no boolean to Go is none to Istio.
func isDryRun(o *model.Object) bool {
	switch o.Annotations["istio.io/dry-run"] {
	case "1", "t", "T", "TRUE", "true", "True":
		return true
	}
	return false
}

// foldAuthorization lists the rules of all policies by action: CUSTOM rules that no provider can
// answer deny.
func (at foldTarget) foldAuthorization(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	all := make([]authzPolicy, len(layers))
	for i, l := range layers {
		all[i] = readAuthzPolicy(l.Object)
	}
	at.checkProviders(all)
	if at.membership == ztunnelMember {
		return foldTunnelRules(all)
	}
	var m foldRecorder
	for i, p := range all {
		if p.invalidReason != "" && p.dryRun { // what would be tried is not even that
			m.Lose(merge.KeyPath("shadow-CUSTOM"), layers[i].Object.Get("spec", "rules"), i, merge.Invalid)
		}
	}
	for _, action := range actions {
		for _, shadow := range []bool{false, true} {
			for i, p := range all {
				if p.effectiveAction() == action && p.dryRun == shadow && !(p.invalidReason != "" && p.dryRun) {
					m.addRules(i, p)
				}
			}
		}
	}
	for i, p := range all {
		switch p.action {
		case "CUSTOM", "AUDIT", "DENY", "ALLOW":
		default:
			m.Lose(merge.KeyPath(p.action), layers[i].Object.Get("spec"), i, merge.Invalid)
		}
	}
	return m.Units, m.Effects
}

// effectiveAction is the action under which the rules of a policy are listed.
func (p authzPolicy) effectiveAction() string {
	if p.invalidReason != "" {
		return "DENY"
	}
	return p.action
}

// rulePath is what Istio calls a rule of a policy, in a list.
func (p authzPolicy) rulePath(list string, i int) merge.Path {
	return merge.KeyPath(list, fmt.Sprintf("ns[%s]-policy[%s]-rule[%d]", p.object.Ref.Namespace, p.object.Ref.Name, i))
}

// addRules adds the rules of one policy, by the names that Istio gives them.
func (m *foldRecorder) addRules(at int, p authzPolicy) {
	list := p.effectiveAction()
	if p.dryRun {
		list = "shadow-" + list
	}
	add := func(i int, value any) {
		m.Take(p.rulePath(list, i), value, at)
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
		if p.invalidReason != "" {
			value["denies"] = "bad CUSTOM action: " + p.invalidReason
		}
		add(i, value)
		i++
	}
}

// checkProviders finds out which CUSTOM policies no provider can answer: their rules deny.
func (at foldTarget) checkProviders(all []authzPolicy) {
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
		switch found, known := at.world.hasAuthorizer(p.provider); {
		case several:
			p.invalidReason = fmt.Sprintf("the workload has CUSTOM rules of %d providers", len(names))
		case at.world.isInvalidProvider(p.provider):
			p.invalidReason = "provider " + p.provider + " is invalid"
		case p.provider == "":
			p.invalidReason = "it names no provider"
		case known && !found:
			p.invalidReason = "there is no provider " + p.provider
		case known && !isValidProviderName(p.provider):
			p.invalidReason = "no provider may be named " + p.provider
		}
	}
}

// hasEmptySelector reports whether the selector of a policy is there and says nothing: to ztunnel that
// is neither a namespace nor a workload.
func hasEmptySelector(o *model.Object) bool {
	selector := o.Body.At("spec", "selector")
	return selector.IsObject() && !selector.Field("matchLabels").IsObject()
}

// findAuthorized finds the targets of an AuthorizationPolicy, and says where it is not known
// whether its provider can be asked.
func findAuthorized(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	out, problems := findAttached(w, p)
	if hasEmptySelector(p.Object) {
		n := len(out.targets)
		out.targets = slices.DeleteFunc(out.targets, func(t target) bool { return t.membership == ztunnelMember })
		if len(out.targets) < n {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
				Message: "its selector is empty, which to ztunnel is neither a namespace nor a workload: it holds at no workload whose traffic ztunnel takes", Hint: "leave the selector out"}.At(p.Object))
		}
	}
	a := readAuthzPolicy(p.Object)
	if _, known := w.hasAuthorizer(a.provider); a.action == "CUSTOM" && a.provider != "" && !known &&
		!w.isInvalidProvider(a.provider) {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf("cannot tell whether the mesh has a provider %s: if it has none, the rules deny",
				a.provider),
			Hint: "add the ConfigMap istio of the root namespace, or --vendor-setting istio.extensionProviders='[…]'"}.At(p.Object))
	}
	return out, problems
}

// isValidProviderName reports whether a provider of CUSTOM rules may have a name.
func isValidProviderName(name string) bool {
	return len(name) <= 63 && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' &&
			(c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// isInvalidProvider reports whether a provider is known to be unusable.
func (m *meshConfig) isInvalidProvider(name string) bool {
	for _, p := range m.invalidProviders {
		if providerName(p) == name {
			return true
		}
	}
	return false
}
