package ocm

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxName is how many characters namespace and name of a policy may have together: replicas are
// named by both.
const maxName = 62

// findProblems is what is wrong with a policy, and what is not evaluated of it.
func (r *placedPolicy) findProblems() []model.Problem {
	o := r.object
	var out []model.Problem
	add := func(severity model.Severity, code model.Code, hint string, path []string, format string, args ...any) {
		out = append(out, newProblem(o, severity, code, hint, path, format, args...))
	}
	if n := utf8.RuneCountInString(o.Ref.Namespace) + utf8.RuneCountInString(o.Ref.Name); n > maxName {
		add(model.Error, model.InvalidObject, "", []string{"metadata", "name"},
			"the hub's webhook refuses it: namespace and name have %d characters together, and may have %d", n, maxName)
	}
	if v := o.Body.At("spec", "disabled"); !v.IsNull() && v.Value() != true && v.Value() != false {
		add(model.Warning, model.WrongType, "", []string{"spec", "disabled"},
			"spec.disabled is neither true nor false: the policy counts as not disabled")
	}
	action := o.Body.At("spec", "remediationAction")
	if word := strings.ToLower(action.Text()); !action.IsNull() && word != "inform" && word != "enforce" {
		add(model.Warning, model.InvalidObject, "", []string{"spec", "remediationAction"},
			"spec.remediationAction is neither inform nor enforce")
	}
	list := o.Body.At("spec", "policy-templates")
	if !list.IsNull() && !list.IsList() {
		add(model.Warning, model.WrongType, "", []string{"spec", "policy-templates"},
			"spec.policy-templates is not a list: the policy brings no templates")
	}
	for i, t := range list.Items {
		at := []string{"spec", "policy-templates", strconv.Itoa(i)}
		object := t.Field("objectDefinition")
		if !object.IsObject() {
			add(model.Warning, model.InvalidObject, "", at, "%s has no objectDefinition", strings.Join(at, "."))
			continue
		}
		if action.Text() == "" && object.Text("kind") == "ConfigurationPolicy" &&
			object.Text("spec", "remediationAction") == "" {
			add(model.Error, model.InvalidObject, "set spec.remediationAction", at,
				"the hub's webhook refuses it: neither the policy nor its template %s says a remediationAction",
				object.Text("metadata", "name"))
		}
		if hasHubTemplate(object.Value()) {
			add(model.Warning, model.NotEvaluated, "", at,
				"the template %s has hub templates, which are not resolved: what comes to a cluster differs",
				object.Text("metadata", "name"))
		}
	}
	if o.Body.At("spec", "dependencies").Len() > 0 || slices.ContainsFunc(slices.Collect(iterateItems(list)),
		func(t model.Body) bool { return t.Field("extraDependencies").Len() > 0 }) {
		add(model.Info, model.NotEvaluated, "", []string{"spec"},
			"it has dependencies, which are not evaluated: they are taken to be met")
	}
	return append(out, r.findReachProblems()...)
}

// findReachProblems says why a policy is nowhere, where that is not what it asks for.
func (r *placedPolicy) findReachProblems() []model.Problem {
	switch {
	case r.disabled || len(r.names) > 0 || len(r.listUndecided()) > 0:
		return nil
	case len(r.paths) == 0:
		return []model.Problem{newProblem(r.object, model.Info, model.NotReached, "", nil,
			"no PlacementBinding binds it, nor a PolicySet that lists it: it is on no cluster")}
	}
	return []model.Problem{newProblem(r.object, model.Info, model.NotReached, "", nil,
		"nothing that binds it brings it to a cluster; reach says why")}
}

// iterateItems are the items of a list.
func iterateItems(list model.Body) func(func(model.Body) bool) {
	return func(yield func(model.Body) bool) {
		for _, e := range list.Items {
			if !yield(e) {
				return
			}
		}
	}
}

// hasHubTemplate reports whether a text in v is completed on the hub.
func hasHubTemplate(v any) bool {
	switch t := v.(type) {
	case string:
		return strings.Contains(t, "{{hub")
	case map[string]any:
		for _, inner := range t {
			if hasHubTemplate(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, hasHubTemplate)
	}
	return false
}

// bindingProblems is what is wrong with a binding, and what is not known of it.
func (w *placementIndex) bindingProblems(b *binding) []model.Problem {
	o := b.object
	var out []model.Problem
	add := func(severity model.Severity, code model.Code, hint string, path []string, format string, args ...any) {
		out = append(out, newProblem(o, severity, code, hint, path, format, args...))
	}
	if sub := o.Body.Field("subFilter"); !sub.IsNull() && sub.Text() != "" && !b.restricted {
		add(model.Warning, model.InvalidObject, "", []string{"subFilter"},
			"subFilter has one value, restricted; it is read as if it were not there")
	}
	override := o.Body.At("bindingOverrides", "remediationAction")
	if !override.IsNull() && override.Text() != "" && !b.enforces {
		add(model.Warning, model.InvalidObject, "", []string{"bindingOverrides", "remediationAction"},
			"a binding can only override to enforce: this has no effect")
	}
	if b.restricted && !b.enforces {
		add(model.Info, model.NotReached, "", nil, "it is restricted and overrides nothing: it has no effect")
	}
	if b.enforces && !b.placement.isUndecided() && len(b.placement.clusters) > 0 &&
		!slices.ContainsFunc(b.placement.clusters, func(c string) bool { return len(w.overrideUnits(b, c)) > 0 }) {
		add(model.Info, model.NotReached, "", []string{"bindingOverrides"},
			"its override has no effect: on its clusters none of its policies is placed, or each enforces by itself")
	}
	at := []string{"placementRef"}
	switch p := b.placement; {
	case p.invalid:
		add(model.Warning, model.InvalidObject, "a Placement has the apiGroup "+clusterGroup+", a PlacementRule "+
			appsGroup, at, "its placementRef names no Placement or PlacementRule: the binding is ignored")
	case p.unread:
		add(model.Warning, model.NotEvaluated, "ask for the permission to list them", at,
			"%s is forbidden: cannot tell which clusters it chose", p.ref)
	case p.object == nil:
		add(model.Warning, model.TargetNotFound, "", at, "%s is not found: the binding places nothing", p.ref)
	case !p.decided && p.ref.GroupKind() == placementKind:
		add(model.Warning, model.NotEvaluated, "add its PlacementDecisions, as the cluster has them", at,
			"%s has no PlacementDecision in the input: cannot tell which clusters it chose", p.ref)
	case !p.decided:
		add(model.Warning, model.NotEvaluated, "add its status, as the cluster has it", at,
			"%s has no status in the input: cannot tell which clusters it chose", p.ref)
	}
	if why := w.explainNoClusters(b.placement); why != "" {
		add(model.Warning, model.NotReached, "bind a ManagedClusterSet to the namespace", at, "%s", why)
	}
	return append(out, w.subjectProblems(b)...)
}

// explainNoClusters says why a Placement that chose no cluster, or of which no decision is known, can
// choose none: it chooses among the clusters of sets that are bound to its namespace.
func (w *placementIndex) explainNoClusters(p placement) string {
	if p.object == nil || p.ref.GroupKind() != placementKind || len(p.clusters) > 0 ||
		w.in.FindOmission(setBindingKind, p.ref.Namespace) != nil ||
		w.in.Cluster.IsUnreadRef(model.Ref{Group: clusterGroup, Kind: setBindingKind.Kind, Namespace: p.ref.Namespace}) {
		return ""
	}
	wanted := listTexts(p.object.Body.At("spec", "clusterSets"))
	for _, o := range w.in.OfKind(setBindingKind) {
		if o.Ref.Namespace == p.ref.Namespace && (wanted == nil || slices.Contains(wanted, o.Text("spec", "clusterSet"))) {
			return ""
		}
	}
	if wanted == nil {
		return "namespace " + p.ref.Namespace + " has no ManagedClusterSetBinding in the input: without one, " +
			p.ref.String() + " can choose no cluster"
	}
	return "namespace " + p.ref.Namespace + " has no ManagedClusterSetBinding for " + strings.Join(wanted, ", ") +
		" in the input: without one, " + p.ref.String() + " can choose no cluster"
}

// subjectProblems says which subjects of a binding lead nowhere.
func (w *placementIndex) subjectProblems(b *binding) []model.Problem {
	o := b.object
	subjects := o.Body.Field("subjects")
	if !subjects.IsNull() && !subjects.IsList() {
		return []model.Problem{newProblem(o, model.Warning, model.WrongType, "", []string{"subjects"},
			"subjects is not a list: the binding binds nothing")}
	}
	var out []model.Problem
	for i, s := range subjects.Items {
		path := []string{"subjects", strconv.Itoa(i)}
		ref := model.Ref{Group: s.Text("apiGroup"), Kind: s.Text("kind"), Namespace: o.Ref.Namespace,
			Name: s.Text("name")}
		switch gk := ref.GroupKind(); {
		case gk != policyKind && gk != setKind || ref.Name == "":
			out = append(out, newProblem(o, model.Warning, model.InvalidObject, "", path,
				"a subject is a Policy or a PolicySet of the group %s: this one is ignored", policyGroup))
		case w.in.Get(ref) == nil && !w.in.Cluster.IsUnreadRef(ref):
			out = append(out, newProblem(o, model.Warning, model.TargetNotFound, "", path,
				"%s is not found: nothing is bound by it", ref))
		}
	}
	return out
}

// setProblems is what is wrong with a set.
func (w *placementIndex) setProblems(s *policySet) []model.Problem {
	o := s.object
	var out []model.Problem
	if list := o.Body.At("spec", "policies"); !list.IsNull() && !list.IsList() {
		out = append(out, newProblem(o, model.Warning, model.WrongType, "", []string{"spec", "policies"},
			"spec.policies is not a list: the set has no members"))
	}
	for _, name := range s.policies {
		ref := model.Ref{Group: policyGroup, Kind: policyKind.Kind, Namespace: o.Ref.Namespace, Name: name}
		if w.in.Get(ref) == nil && !w.in.Cluster.IsUnreadRef(ref) {
			out = append(out, newProblem(o, model.Warning, model.TargetNotFound, "", []string{"spec", "policies"},
				"its member %s is not found", ref))
		}
	}
	exclusions := o.Body.At("spec", "exclusions")
	if !exclusions.IsNull() && !exclusions.IsList() {
		out = append(out, newProblem(o, model.Warning, model.WrongType, "", []string{"spec", "exclusions"},
			"spec.exclusions is not a list: the set excludes nothing"))
	}
	seen := map[string]bool{}
	for i, e := range exclusions.Items {
		name, path := e.Text("policyName"), []string{"spec", "exclusions", strconv.Itoa(i)}
		if list := e.Field("clusterNames"); !list.IsNull() && !list.IsList() {
			out = append(out, newProblem(o, model.Warning, model.WrongType, "", path,
				"%s.clusterNames is not a list: no cluster is excluded by it", strings.Join(path, ".")))
		}
		if seen[name] {
			out = append(out, newProblem(o, model.Error, model.InvalidObject, "", path,
				"the hub's webhook refuses it: %s has two exclusions; both count here", name))
		}
		seen[name] = name != ""
		if !slices.Contains(s.policies, name) {
			out = append(out, newProblem(o, model.Error, model.InvalidObject, "", path,
				"the hub's webhook refuses it: it excludes clusters for %q, which is no member", name))
		}
	}
	if !slices.ContainsFunc(w.bindings, func(b *binding) bool { return b.hasSubject(o.Ref) }) {
		out = append(out, newProblem(o, model.Info, model.NotReached, "", nil,
			"no PlacementBinding binds it: it brings its policies nowhere"))
	}
	return out
}

// hasSubject reports whether the binding has an object as a subject.
func (b *binding) hasSubject(ref model.Ref) bool {
	return slices.ContainsFunc(slices.Collect(iterateItems(b.object.Body.Field("subjects"))), func(s model.Body) bool {
		return b.object.Ref.Namespace == ref.Namespace && s.Text("name") == ref.Name && s.Text("kind") == ref.Kind &&
			s.Text("apiGroup") == ref.Group
	})
}
