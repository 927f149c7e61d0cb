package publish

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// API is one of the two APIs for reports: they have the same fields.
type API struct {
	model.GroupKind
	Version string
}

// APIs are those that are written and read, the preferred one first.
func APIs() []API {
	return []API{
		{model.GroupKind{Group: "wgpolicyk8s.io", Kind: "PolicyReport"}, "v1alpha2"},
		{model.GroupKind{Group: "openreports.io", Kind: "Report"}, "v1alpha1"},
	}
}

// What tells our reports from those of others, and who owns their fields.
const (
	Manager      = "kubectl-dopolicy"
	managedLabel = "app.kubernetes.io/managed-by"
	Selector     = managedLabel + "=" + Manager
)

// The annotations of reports.
const (
	readAtAnnotation     = "dopolicy.dev/read-at"    // when the cluster was read, in RFC 3339
	completeAnnotation   = "dopolicy.dev/complete"   // "false": something that could change the report is not known
	generationAnnotation = "dopolicy.dev/generation" // of the route that the report is about
)

const resultSource = "dopolicy" // of results, by which screens filter

// Report is an object of one of the APIs.
type Report struct {
	APIVersion string   `json:"apiVersion"`        // of one of the APIs
	Kind       string   `json:"kind"`              // PolicyReport or Report
	Metadata   Metadata `json:"metadata"`          // who the report is, and when its cluster was read
	Source     string   `json:"source,omitempty"`  // of one API only: in the other, only results have it
	Scope      *Object  `json:"scope"`             // what the report is about: a route, or the namespace
	Summary    Summary  `json:"summary"`           // the results, counted
	Results    []Result `json:"results,omitempty"` // by rule and policy
}

// Metadata is what reports have of the metadata of objects.
type Metadata struct {
	Name        string            `json:"name"`        // dopolicy, or dopolicy-KIND-NAME of a route
	Namespace   string            `json:"namespace"`   // that of the route
	Labels      map[string]string `json:"labels"`      // by which our reports are found
	Annotations map[string]string `json:"annotations"` // the time of reading, and whether all was known
}

// Object is a reference to an object.
type Object struct {
	APIVersion string `json:"apiVersion"`          // as it is served
	Kind       string `json:"kind"`                // the kind of the object
	Namespace  string `json:"namespace,omitempty"` // empty for an object without one
	Name       string `json:"name"`                // of the object
}

// Summary counts results.
type Summary struct {
	Pass  int `json:"pass"`  // policies in force
	Fail  int `json:"fail"`  // errors, and requirements that are not met
	Warn  int `json:"warn"`  // warnings
	Error int `json:"error"` // rules and requirements about which too little is known
	Skip  int `json:"skip"`  // policies that are not in force, and rules without one
}

// Result is one line of a report.
type Result struct {
	Source string `json:"source"` // dopolicy
	// Kind.group/namespace/name; the id of a finding, the name of a requirement, or none
	Policy    string   `json:"policy"`
	Rule      string   `json:"rule,omitempty"`      // the route rule
	Category  string   `json:"category"`            // policy, finding or requirement
	Severity  string   `json:"severity,omitempty"`  // of a finding: high or medium
	Result    string   `json:"result"`              // pass, fail, warn, error or skip
	Resources []Object `json:"resources,omitempty"` // of a finding: the object at fault
	Message   string   `json:"message"`             // the same for people
	// of a policy: state, level, target, owner, reason, overriddenBy, via
	Properties map[string]string `json:"properties,omitempty"`
}

// The categories of results.
const (
	categoryPolicy      = "policy"
	categoryFinding     = "finding"
	categoryRequirement = "requirement"
)

// What became of a policy at a rule, in the property "state".
const (
	stateEffective  = "effective"
	statePartial    = "partial"
	stateOverridden = "overridden"
	stateIgnored    = "ignored"
	stateNone       = "none"    // no policy is in force
	stateUnknown    = "unknown" // of a rule: it is not known whether one is
)

// noPolicy stands where a policy is named, of a rule on which none is known to be in force.
const noPolicy = "none"

// countResults fills in the summary.
func (r *Report) countResults() {
	r.Summary = Summary{}
	for _, one := range r.Results {
		switch one.Result {
		case "pass":
			r.Summary.Pass++
		case "fail":
			r.Summary.Fail++
		case "warn":
			r.Summary.Warn++
		case "error":
			r.Summary.Error++
		default:
			r.Summary.Skip++
		}
	}
}

// Ref names the report.
func (r *Report) Ref() model.Ref {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return model.Ref{Group: group, Kind: r.Kind, Namespace: r.Metadata.Namespace, Name: r.Metadata.Name}
}

// formatPolicy is how results name a policy: Kind.group/namespace/name.
func formatPolicy(r model.Ref) string { return r.GroupKind().String() + "/" + r.FullName() }

// parsePolicy reads what formatPolicy wrote.
func parsePolicy(text string) model.Ref {
	kind, name, _ := strings.Cut(text, "/")
	gk := model.ParseGroupKind(kind)
	namespace, name, ok := strings.Cut(name, "/")
	if !ok {
		namespace, name = "", namespace
	}
	return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
}
