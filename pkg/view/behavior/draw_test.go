package behavior

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// facts are what a request gets, by the answer to it alone, without the names that do not count.
func facts(r *resolve.Resolution, a *request.Answer) string {
	out := requests.Answer(r, requests.ExpectedAnswer{Answer: a}, nil, view.Judges{})
	total := 0
	for _, b := range r.Graph.BackendRefs(max(a.Rule, 0)) {
		total += b.Weight
	}
	var shares, settings []string
	if a.Rule >= 0 && out.Location == "" {
		for _, b := range r.Graph.BackendRefs(a.Rule) {
			shares = append(shares, fmt.Sprintf("%s %s %.4f", b.Ref, b.Reason, float64(b.Weight)/float64(total)))
		}
	}
	for _, e := range out.Effective {
		for _, rule := range e.Rules {
			settings = append(settings, fmt.Sprint(e.PolicyKind, e.Target.Kind, e.Target.Section != "",
				rule.Name, rule.Value))
		}
	}
	filters := ""
	if a.Rule >= 0 {
		rule := ruleOf(r, a)
		raw, _ := json.Marshal([]any{rule["filters"], rule["timeouts"]})
		filters = string(raw)
	}
	slices.Sort(shares)
	slices.Sort(settings)
	return fmt.Sprint(out.Outcome, out.Status, out.Location, shares, filters, settings)
}

func ruleOf(r *resolve.Resolution, a *request.Answer) viewtest.Doc {
	n := r.Node(a.Rule)
	rules, _ := n.Object.Body.Get("spec", "rules").([]any)
	rule, _ := rules[n.Index].(viewtest.Doc)
	return rule
}
