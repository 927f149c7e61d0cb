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

// Gather makes the reports: for every route one, and for every namespace that has routes or findings one more, with the findings. They are sorted
// by namespace and name.
func Gather(r *resolve.Resolution, found *check.Report, o Options) []*Report {
	g := &gatherer{res: r, options: o, owners: map[model.Ref]string{}}
	g.readOwners()
	findings := map[string][]check.Finding{}
	for _, f := range found.Items {
		if f.Suppressed == nil && f.Ref != nil && f.Ref.Namespace != "" && f.Severity != model.Info && g.in(f.Ref.Namespace) {
			findings[f.Ref.Namespace] = append(findings[f.Ref.Namespace], f)
		}
	}
	routes := g.routes()
	var out []*Report
	for _, namespace := range slices.Sorted(maps.Keys(keysOf(routes, findings))) {
		reports, whole := g.ofRoutes(namespace, routes[namespace])
		out = append(out, g.ofNamespace(namespace, findings[namespace], found.Catalogue, whole))
		out = append(out, reports...)
	}
	return out
}

func keysOf(routes map[string][]model.Ref, findings map[string][]check.Finding) map[string]bool {
	out := map[string]bool{}
	for namespace := range routes {
		out[namespace] = true
	}
	for namespace := range findings {
		out[namespace] = true
	}
	return out
}

// gatherer makes reports of one input.
type gatherer struct {
	res     *resolve.Resolution
	options Options
	owners  map[model.Ref]string // of policies
}

func (g *gatherer) in(namespace string) bool { return g.options.In == nil || g.options.In(namespace) }

// routes are the routes of the input by namespace, sorted.
func (g *gatherer) routes() map[string][]model.Ref {
	out := map[string][]model.Ref{}
	for id := range g.res.Graph.Len() {
		n := g.res.Node(topology.NodeID(id))
		if n.Role == topology.Route && n.Object != nil && n.Hop == 0 && g.in(n.Ref.Namespace) {
			out[n.Ref.Namespace] = append(out[n.Ref.Namespace], n.Ref)
		}
	}
	for _, refs := range out {
		slices.SortFunc(refs, model.Ref.Compare)
	}
	return out
}

// ofRoutes are the reports of the routes of a namespace, and whether all that could change them is known.
func (g *gatherer) ofRoutes(namespace string, routes []model.Ref) (out []*Report, whole bool) {
	if len(routes) == 0 {
		return nil, true
	}
	query := view.Query{Kinds: g.options.Kinds, ShowNone: true, Namespace: namespace}
	sections := map[model.Ref][]string{} // of routes, in the order of their rules
	for _, ref := range routes {
		query.Targets = append(query.Targets, g.res.Lookup(ref)...)
	}
	for id := range g.res.Graph.Len() {
		if n := g.res.Node(topology.NodeID(id)); n.Role == topology.Rule && n.Hop == 0 && n.Ref.Namespace == namespace && !n.Transit {
			sections[n.Ref.WithoutSection()] = append(sections[n.Ref.WithoutSection()], n.Ref.Section)
		}
	}
	answer := view.Effective(g.res, query)
	items := map[model.Ref][]*view.EffectivePolicy{}
	for i := range answer.Items {
		item := &answer.Items[i]
		items[item.Target.WithoutSection()] = append(items[item.Target.WithoutSection()], item)
	}
	for _, ref := range routes {
		whole := answer.Complete
		if !whole { // because of other routes, perhaps
			alone := query
			alone.Targets = g.res.Lookup(ref)
			whole = view.Effective(g.res, alone).Complete
		}
		out = append(out, g.ofRoute(ref, sections[ref], items[ref], whole))
	}
	return out, answer.Complete
}

// ofRoute is the report of one route.
func (g *gatherer) ofRoute(ref model.Ref, sections []string, items []*view.EffectivePolicy, whole bool) *Report {
	out := g.report(ref.Namespace, routeReport(ref), whole)
	object := g.object(ref)
	out.Scope = &object
	if o := g.res.Snapshot.Get(ref); o != nil {
		if n := generationOf(o); n != "" {
			out.Metadata.Annotations[generation] = n
		}
	}
	covered := map[string]bool{}
	for _, item := range items {
		for i := range item.Policies {
			if use := &item.Policies[i]; use.Policy != nil {
				result := g.ofPolicy(item, use)
				out.Results = append(out.Results, result)
				covered[result.Rule] = covered[result.Rule] || result.Result == "pass"
			}
		}
	}
	for _, section := range sections {
		if !covered[section] && !covered[""] {
			out.Results = append(out.Results, nothing(section, whole))
		}
	}
	out.Results = tidied(out.Results)
	out.count()
	return out
}

// nothing says that no policy is in force on a rule, or that this is not known.
func nothing(section string, whole bool) Result {
	out := Result{Source: source, Policy: noPolicy, Rule: section, Category: categoryPolicy, Result: "skip", Message: "no policy is in force", Properties: map[string]string{"state": stateNone}}
	if !whole {
		out.Result, out.Message, out.Properties = "error", "cannot tell whether a policy is in force", map[string]string{"state": stateUnknown}
	}
	return out
}

// ofNamespace is the report of what was found about objects of a namespace.
func (g *gatherer) ofNamespace(namespace string, found []check.Finding, catalogue check.Catalogue, whole bool) *Report {
	out := g.report(namespace, namespaceReport, whole)
	out.Scope = &Object{APIVersion: "v1", Kind: "Namespace", Name: namespace}
	for _, f := range found {
		result := Result{Source: source, Policy: f.ID, Category: categoryFinding, Severity: severities[f.Severity], Result: "warn", Resources: []Object{g.object(f.Ref.WithoutSection())}}
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
	out.Results = tidied(out.Results)
	out.count()
	return out
}

// report is an empty report.
func (g *gatherer) report(namespace, name string, whole bool) *Report {
	api := g.options.API
	out := &Report{APIVersion: api.Group + "/" + api.Version, Kind: api.Kind, Metadata: Metadata{Name: name, Namespace: namespace,
		Labels:      map[string]string{managedLabel: Manager},
		Annotations: map[string]string{readAt: g.options.Now.UTC().Format(time.RFC3339), complete: strconv.FormatBool(whole)}}}
	if api != APIs()[0] {
		out.Source = source
	}
	return out
}

// object is a reference to an object of the input.
func (g *gatherer) object(ref model.Ref) Object {
	version := ""
	if o := g.res.Snapshot.Get(ref); o != nil {
		version = o.Version
	}
	if served := g.res.Snapshot.Cluster.Serves(ref.GroupKind()); served != nil {
		version = served.Version
	}
	if ref.Group != "" && version != "" && !strings.Contains(version, "/") {
		version = ref.Group + "/" + version
	}
	return Object{APIVersion: version, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

const (
	namespaceReport   = "dopolicy"
	requirementPrefix = "requirement/"
	longestName       = 253
)

var severities = map[model.Severity]string{model.Error: "high", model.Warning: "medium", model.Info: "info"}

// routeReport is the name of the report of a route.
func routeReport(ref model.Ref) string {
	kind := strings.ToLower(ref.Kind)
	if ref.Group != gatewayv1.GroupName {
		kind += "." + ref.Group
	}
	name := fmt.Sprintf("%s-%s-%s", namespaceReport, kind, ref.Name)
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(name))
		name = name[:longestName-17] + "-" + hex.EncodeToString(sum[:8])
	}
	return name
}

// tidied are results in their order, each once.
func tidied(all []Result) []Result {
	slices.SortStableFunc(all, func(a, b Result) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Policy, b.Policy)) })
	return slices.CompactFunc(all, func(a, b Result) bool {
		return a.Rule == b.Rule && a.Policy == b.Policy && a.Message == b.Message && a.Category == b.Category && a.Result == b.Result &&
			slices.Equal(a.Resources, b.Resources) && maps.Equal(a.Properties, b.Properties)
	})
}
