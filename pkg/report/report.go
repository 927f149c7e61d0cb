package report

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	vieweffective "github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	viewgraph "github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	viewstatus "github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Report answers `report`: what the commands answer about one input. Every part is the document
// that its command writes as JSON.
type Report struct {
	view.Envelope
	Facts
	// route rules that traffic can come to and on which no policy is in force
	RulesWithoutPolicy []model.Ref `json:"bare"`

	Topology   *viewgraph.Topology                `json:"topology"`   // the graph of what was read
	Effective  *vieweffective.EffectivePolicyList `json:"effective"`  // what is in force
	Overridden *overridden.OverriddenRuleList     `json:"overridden"` // what lost
	Status     *viewstatus.StatusList             `json:"status"`     // predicted statuses
	Findings   *check.Report                      `json:"findings"`   // also those that do not count, marked
	Classes    *prove.RuleClassList               `json:"classes"`    // the requests that rules take
	// what requests to rules are protected by
	Protection *protection.RuleProtectionList `json:"protection"`
	// what proxies do otherwise, where their dumps were given
	Dataplane *audit.Report `json:"dataplane,omitempty"`
	// what the picture in a page shows, where that is less than the topology
	Picture *viewgraph.Topology `json:"picture,omitempty"`
}

// Facts say what a report is about.
type Facts struct {
	Title   string  `json:"title"`   // the heading of the page
	Version string  `json:"version"` // of the program
	Inputs  []Input `json:"inputs"`  // what was read, in the order of the command line
	Scope   Scope   `json:"scope"`   // what it was narrowed to

	Redacted bool `json:"redacted,omitempty"` // the values of settings were taken out
}

// The kinds of inputs.
const (
	Path          = "path"          // a file or a folder
	Stdin         = "stdin"         // standard input, called -
	Kustomization = "kustomization" // a folder with one
	Cluster       = "cluster"       // a context of the kubeconfig, or the cluster that a snapshot is of
)

// Input is something that was read, as the user named it.
type Input struct {
	Kind string `json:"kind"` // what it is: path, stdin, kustomization, cluster
	Name string `json:"name"` // as the user wrote it
}

// Scope is what the question was narrowed to. Empty: everything in the input.
type Scope struct {
	Namespace   string   `json:"namespace,omitempty"`   // the only one that it is about
	PolicyKinds []string `json:"policyKinds,omitempty"` // the only ones that it is about, as Kind.group
}

// Query is what is asked.
type Query struct {
	view.Query
	In     func(namespace string) bool // nil: every namespace
	Check  check.Options
	Status status.Functions
	// finds the requests that rules take; nil: they are not asked for
	Classes func(*resolve.Resolution, func(namespace string) bool) (*prove.RuleClassList, error)
	// tells what requests to rules are protected by; nil: it is not asked for
	Protection func(*resolve.Resolution, func(namespace string) bool) (*protection.RuleProtectionList, error)
	// holds what is in force against what proxies do; nil: no dump was given
	Audit func(*vieweffective.EffectivePolicyList) *audit.Report
}

// Gather asks all questions about one resolution.
func Gather(r *resolve.Resolution, q Query, facts Facts) (*Report, error) {
	out := &Report{}
	opening, err := askAll(r, q, facts, func(d any) {
		switch d := d.(type) {
		case *viewgraph.Topology:
			out.Topology = d
		case *vieweffective.EffectivePolicyList:
			out.Effective = d
		case *overridden.OverriddenRuleList:
			out.Overridden = d
		case *viewstatus.StatusList:
			out.Status = d
		case *check.Report:
			out.Findings = d
		case *prove.RuleClassList:
			out.Classes = d
		case *protection.RuleProtectionList:
			out.Protection = d
		case *audit.Report:
			out.Dataplane = d
		}
	})
	if err != nil {
		return nil, err
	}
	out.Envelope, out.Facts, out.RulesWithoutPolicy = opening.Envelope, opening.Facts, opening.RulesWithoutPolicy
	return out, nil
}

// opening is what a report begins with, before its documents.
type opening struct {
	view.Envelope
	Facts
	RulesWithoutPolicy []model.Ref `json:"bare"`
}

// askAll asks one question after the other and hands out the documents, which nothing changes after
// that. Every stack is folded once, and the outcomes are kept for all questions.
func askAll(r *resolve.Resolution, q Query, facts Facts, take func(document any)) (opening, error) {
	if q.Targets == nil {
		for _, k := range r.Kinds {
			if k.IsInUse() && (q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind)) {
				k.FoldAll()
			}
		}
	}
	out := opening{Facts: facts}
	var problems []model.Problem
	answered := func(document interface{ Opening() *view.Envelope }) {
		problems = append(problems, document.Opening().Problems...)
		take(document)
	}
	q.Summaries = true
	effective := vieweffective.List(r, q.Query)
	out.RulesWithoutPolicy = findRulesWithoutPolicy(r, q.In, effective)
	graph := viewgraph.Query{Query: q.Query}
	if q.Audit != nil {
		all := effective
		if q.Targets != nil || q.Kinds != nil || q.Namespace != "" {
			all = vieweffective.List(r, view.Query{})
		}
		audited := q.Audit(all)
		problems, graph.Proxies = audited.ProxyProblems(), audited.ProxyFacts()
		take(audited)
	}
	if facts.Redacted {
		effective.Routes = hideValues(effective.Routes)
	}
	answered(effective)
	answered(viewgraph.Build(r, graph))
	answered(overridden.List(r, q.Query, nil, ""))
	answered(viewstatus.Predict(r, viewstatus.Query{InNamespace: q.In, Kinds: q.Kinds, Objects: true}, q.Status))
	q.Check.Kinds, q.Check.In, q.Check.ShowSuppressed = q.Kinds, q.In, true
	answered(check.Run(r, q.Check))
	if q.Classes != nil {
		classes, err := q.Classes(r, q.In)
		if err != nil {
			return out, err
		}
		take(classes)
	}
	if q.Protection != nil {
		protection, err := q.Protection(r, q.In)
		if err != nil {
			return out, err
		}
		take(protection)
	}
	out.Finish("Report", problems)
	return out, nil
}

// hideValues returns what the rules of routes say themselves, by name alone: headers and the like
// may hold what not everybody should see.
func hideValues(routes []vieweffective.RouteSettings) []vieweffective.RouteSettings {
	out := slices.Clone(routes)
	for i := range out {
		out[i].Rules = slices.Clone(out[i].Rules)
		for j := range out[i].Rules {
			out[i].Rules[j].Value = model.Redacted
		}
	}
	return out
}
