package publish

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// Options say what is reported.
type Options struct {
	API    API
	In     func(namespace string) bool // nil: every namespace
	Kinds  []model.GroupKind           // policy kinds; nil: every one
	Values []model.GroupKind           // kinds whose values may be read by whoever reads the report
	Owner  string                      // the label or annotation that names the owner of a policy
	Now    time.Time                   // when the input was read
}

// Gather makes the reports: for every route one, and for every namespace that has routes or
// findings one more, with the findings. They are sorted by namespace and name.
func Gather(r *resolve.Resolution, found *check.Report, o Options) []*Report {
	g := &reporter{resolution: r, options: o, owners: map[model.Ref]string{}}
	g.readOwners()
	findings := map[string][]check.Finding{}
	for _, f := range found.Items {
		if f.Suppressed == nil && f.Ref != nil && f.Ref.Namespace != "" && f.Severity != model.Info &&
			g.isAsked(f.Ref.Namespace) {
			findings[f.Ref.Namespace] = append(findings[f.Ref.Namespace], f)
		}
	}
	routes := g.findRoutes()
	var out []*Report
	for _, namespace := range slices.Sorted(maps.Keys(namespacesOf(routes, findings))) {
		reports, whole := g.reportRoutes(namespace, routes[namespace])
		out = append(out, g.reportNamespace(namespace, findings[namespace], found.Catalogue, whole))
		out = append(out, reports...)
	}
	return out
}

func namespacesOf(routes map[string][]model.Ref, findings map[string][]check.Finding) map[string]bool {
	out := map[string]bool{}
	for namespace := range routes {
		out[namespace] = true
	}
	for namespace := range findings {
		out[namespace] = true
	}
	return out
}

// reporter makes reports of one input.
type reporter struct {
	resolution *resolve.Resolution
	options    Options
	owners     map[model.Ref]string // of policies
}

func (g *reporter) isAsked(namespace string) bool {
	return g.options.In == nil || g.options.In(namespace)
}

// findRoutes returns the routes of the input by namespace, sorted.
func (g *reporter) findRoutes() map[string][]model.Ref {
	out := map[string][]model.Ref{}
	for id := range g.resolution.Graph.Len() {
		n := g.resolution.Node(topology.NodeID(id))
		if n.Role == topology.Route && n.Object != nil && n.Hop == 0 && g.isAsked(n.Ref.Namespace) {
			out[n.Ref.Namespace] = append(out[n.Ref.Namespace], n.Ref)
		}
	}
	for _, refs := range out {
		slices.SortFunc(refs, model.Ref.Compare)
	}
	return out
}

// reportRoutes returns the reports of the routes of a namespace, and whether all that could change
// them is known.
func (g *reporter) reportRoutes(namespace string, routes []model.Ref) (out []*Report, whole bool) {
	if len(routes) == 0 {
		return nil, true
	}
	query := view.Query{Kinds: g.options.Kinds, ShowNone: true, Namespace: namespace}
	sections := map[model.Ref][]string{} // of routes, in the order of their rules
	for _, ref := range routes {
		query.Targets = append(query.Targets, g.resolution.Lookup(ref)...)
	}
	for id := range g.resolution.Graph.Len() {
		if n := g.resolution.Node(topology.NodeID(id)); n.Role == topology.Rule && n.Hop == 0 &&
			n.Ref.Namespace == namespace && !n.Delegates {
			sections[n.Ref.WithoutSection()] = append(sections[n.Ref.WithoutSection()], n.Ref.Section)
		}
	}
	answer := effective.List(g.resolution, query)
	items := map[model.Ref][]*view.EffectivePolicy{}
	for i := range answer.Items {
		item := &answer.Items[i]
		items[item.Target.WithoutSection()] = append(items[item.Target.WithoutSection()], item)
	}
	for _, ref := range routes {
		whole := answer.Complete
		if !whole { // because of other routes, perhaps
			alone := query
			alone.Targets = g.resolution.Lookup(ref)
			whole = effective.List(g.resolution, alone).Complete
		}
		out = append(out, g.reportRoute(ref, sections[ref], items[ref], whole))
	}
	return out, answer.Complete
}

// reportRoute returns the report of one route.
func (g *reporter) reportRoute(ref model.Ref, sections []string, items []*view.EffectivePolicy, whole bool) *Report {
	out := g.newReport(ref.Namespace, routeReportName(ref), whole)
	object := g.newReference(ref)
	out.Scope = &object
	if o := g.resolution.Snapshot.Get(ref); o != nil {
		if n := generationOf(o); n != "" {
			out.Metadata.Annotations[generationAnnotation] = n
		}
	}
	covered := map[string]bool{}
	for _, item := range items {
		for i := range item.Policies {
			if use := &item.Policies[i]; use.Policy != nil {
				result := g.policyResult(item, use)
				out.Results = append(out.Results, result)
				covered[result.Rule] = covered[result.Rule] || result.Result == "pass"
			}
		}
	}
	for _, section := range sections {
		if !covered[section] && !covered[""] {
			out.Results = append(out.Results, noPolicyResult(section, whole))
		}
	}
	out.Results = sortResults(out.Results)
	out.countResults()
	return out
}

// noPolicyResult says that no policy is in force on a rule, or that this is not known.
func noPolicyResult(section string, whole bool) Result {
	out := Result{Source: resultSource, Policy: noPolicy, Rule: section, Category: categoryPolicy, Result: "skip",
		Message: "no policy is in force", Properties: map[string]string{"state": stateNone}}
	if !whole {
		out.Result, out.Message, out.Properties = "error", "cannot tell whether a policy is in force",
			map[string]string{"state": stateUnknown}
	}
	return out
}

// reportNamespace returns the report of what was found about objects of a namespace.
func (g *reporter) reportNamespace(namespace string, found []check.Finding, catalogue check.Catalogue,
	whole bool) *Report {
	out := g.newReport(namespace, namespaceReportName, whole)
	out.Scope = &Object{APIVersion: "v1", Kind: "Namespace", Name: namespace}
	for _, f := range found {
		result := Result{Source: resultSource, Policy: f.ID, Category: categoryFinding,
			Severity: severities[f.Severity], Result: "warn", Resources: []Object{
				g.newReference(f.Ref.WithoutSection())}}
		rule, _ := catalogue.Rule(f.ID)
		result.Message, result.Rule = cmp.Or(rule.Summary, f.ID), f.Ref.Section
		if f.Severity == model.Error {
			result.Result = "fail"
		}
		if name, ok := strings.CutPrefix(f.ID, requirementPrefix); ok {
			result.Policy, result.Category, result.Result = name, categoryRequirement, "fail"
		}
		if f.ID == string(model.RequirementUnknown) {
			result.Category, result.Result = categoryRequirement, "error"
		}
		out.Results = append(out.Results, result)
	}
	out.Results = sortResults(out.Results)
	out.countResults()
	return out
}

// newReport returns an empty report.
func (g *reporter) newReport(namespace, name string, whole bool) *Report {
	api := g.options.API
	out := &Report{APIVersion: api.Group + "/" + api.Version, Kind: api.Kind, Metadata: Metadata{Name: name,
		Namespace: namespace,
		Labels:    map[string]string{managedLabel: Manager},
		Annotations: map[string]string{readAtAnnotation: g.options.Now.UTC().Format(time.RFC3339),
			completeAnnotation: strconv.FormatBool(whole)}}}
	if api != APIs()[0] {
		out.Source = resultSource
	}
	return out
}

// newReference returns a reference to an object of the input.
func (g *reporter) newReference(ref model.Ref) Object {
	version := ""
	if o := g.resolution.Snapshot.Get(ref); o != nil {
		version = o.Version
	}
	if served := g.resolution.Snapshot.Cluster.FindKind(ref.GroupKind()); served != nil {
		version = served.Version
	}
	if ref.Group != "" && version != "" && !strings.Contains(version, "/") {
		version = ref.Group + "/" + version
	}
	return Object{APIVersion: version, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

const (
	namespaceReportName = "dopolicy"
	requirementPrefix   = "requirement/"
	maxNameLength       = 253
)

var severities = map[model.Severity]string{model.Error: "high", model.Warning: "medium", model.Info: "info"}

// routeReportName is the name of the report of a route.
func routeReportName(ref model.Ref) string {
	kind := strings.ToLower(ref.Kind)
	if ref.Group != gatewayv1.GroupName {
		kind += "." + ref.Group
	}
	name := fmt.Sprintf("%s-%s-%s", namespaceReportName, kind, ref.Name)
	if len(name) > maxNameLength {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxNameLength-17] + "-" + hex.EncodeToString(sum[:8])
	}
	return name
}

// sortResults returns results in their order, each once.
func sortResults(all []Result) []Result {
	slices.SortStableFunc(all, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Policy, b.Policy))
	})
	return slices.CompactFunc(all, func(a, b Result) bool {
		return a.Rule == b.Rule && a.Policy == b.Policy && a.Message == b.Message && a.Category == b.Category &&
			a.Result == b.Result &&
			slices.Equal(a.Resources, b.Resources) && maps.Equal(a.Properties, b.Properties)
	})
}
