package audit

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Rules document the differences, for forms of output that want an id for each sort.
func Rules() []model.Rule {
	rule := func(v Verdict, summary, fix string) model.Rule {
		return model.Rule{ID: model.Code("Dataplane" + string(v)), Severities: []model.Severity{model.Error},
			Summary: summary, Fix: fix}
	}
	fix := "look at the named xDS resources, and for updates that the proxy refused"
	return []model.Rule{
		rule(Different, "the proxy does something else than a policy says", fix),
		rule(Missing, "the proxy does not do what a policy says", fix),
		rule(RouteMissing, "the proxy has no route for a rule that it should serve", fix),
		rule(Unexplained, "the proxy does something that no policy says",
			"remove what does it, or add the manifest that it is from"),
		{ID: dataplane.Rejected, Severities: []model.Severity{model.Warning},
			Summary: "the proxy refused an update and goes on with what it had",
			Fix:     "read the reason in the control plane's log"},
		{ID: dataplane.Warming, Severities: []model.Severity{model.Warning},
			Summary: "the proxy does not use an update yet",
			Fix:     "look for what it waits for: routes, certificates or clusters"},
	}
}

// Findings are the differences as problems, at the policies whose settings they are, else at the
// rule.
func (r *Report) Findings(in *model.Snapshot) []model.Problem {
	var out []model.Problem
	for i := range r.Items {
		item := &r.Items[i]
		if !item.Verdict.IsDifference() {
			continue
		}
		p := model.Problem{Severity: model.Error, Code: model.Code("Dataplane" + string(item.Verdict)),
			Message: item.formatSentence(), Hint: "look at " + item.XDS.formatNames()}
		if item.XDS == nil {
			p.Hint = ""
		}
		about := item.Target
		if len(item.Policies) > 0 {
			about = &item.Policies[0]
		}
		if about != nil {
			p.Ref = about
			if o := in.Get(about.WithoutSection()); o != nil {
				p.Origin = &o.Origin
			}
		}
		out = append(out, p)
	}
	for _, p := range r.Problems {
		if p.Code == dataplane.Rejected || p.Code == dataplane.Warming {
			out = append(out, p)
		}
	}
	return out
}

// formatSentence returns an item in one line.
func (i *Item) formatSentence() string {
	where := ""
	if i.Target != nil {
		where = i.Target.String() + ", "
	}
	if i.Proxy != "" {
		where = i.Proxy + ": " + where
	}
	out := fmt.Sprintf("%s%s: %s", where, i.Setting, i.Message)
	if predicted, found := i.formatSides(); predicted != "" || found != "" {
		out += fmt.Sprintf(" (predicted %s, found %s)", textOrNothing(predicted), textOrNothing(found))
	}
	return out
}

func textOrNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Headline is the answer in a sentence.
func (r *Report) Headline() string {
	if n := r.Summary.Differences(); n > 0 {
		return fmt.Sprintf("The proxy differs from what is predicted: %d", n)
	}
	return "The proxy does what is predicted"
}
