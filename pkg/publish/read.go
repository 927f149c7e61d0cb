package publish

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// ReadReports returns what reports in an input say of routes: of those that wanted takes, by route,
// rule and policy. The age is reckoned from now.
func ReadReports(in *model.Snapshot, wanted func(route model.Ref) bool, now time.Time) []effective.ReportedPolicy {
	var out []effective.ReportedPolicy
	seen := map[model.Ref]bool{} // routes: where both APIs have a report, that of the first counts
	for _, api := range APIs() {
		objects := in.OfKind(api.GroupKind)
		times := map[string]string{} // when namespaces were read last
		for _, o := range objects {
			if isOurs(o) && o.Annotations[readAtAnnotation] > times[o.Ref.Namespace] {
				times[o.Ref.Namespace] = o.Annotations[readAtAnnotation]
			}
		}
		for _, o := range objects {
			route := scopeOf(o)
			if !isOurs(o) || !slices.Contains(gatewayapi.RouteKinds(), route.GroupKind()) ||
				!wanted(route) || seen[route] {
				continue
			}
			seen[route] = true
			common := effective.ReportedPolicy{Target: route, Source: "report", Report: o.Ref,
				Complete: o.Annotations[completeAnnotation] == "true", ReadAt: times[o.Ref.Namespace]}
			if at, err := time.Parse(time.RFC3339, common.ReadAt); err == nil && !at.After(now) {
				common.Age = duration.HumanDuration(now.Sub(at))
			}
			if object := in.Get(route); object != nil {
				n := generationOf(object)
				common.Outdated = n != "" && o.Annotations[generationAnnotation] != n
			}
			list, _ := o.Get("results").([]any)
			for _, entry := range list {
				if one, ok := readResult(entry, common); ok {
					out = append(out, one)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b effective.ReportedPolicy) int { return a.Target.Compare(b.Target) })
	return out
}

// generationOf is the generation of an object, which changes with its spec; "" where it has none,
// as in most files.
func generationOf(o *model.Object) string {
	switch n := o.Get("metadata", "generation").(type) {
	case int64:
		return strconv.FormatInt(n, 10)
	case float64:
		return strconv.FormatInt(int64(n), 10)
	}
	return ""
}

// isOurs reports whether a report is one that was published by this program: a person of the
// namespace who may write reports can claim as much.
func isOurs(o *model.Object) bool { return o.Labels[managedLabel] == Manager }

// scopeOf returns the object that a report is about: one of its own namespace.
func scopeOf(o *model.Object) model.Ref {
	gk := model.NewGroupKind(o.Text("scope", "apiVersion"), o.Text("scope", "kind"))
	return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace,
		Name: o.Text("scope", "name")}
}

// readResult reads a line about a policy.
func readResult(entry any, common effective.ReportedPolicy) (effective.ReportedPolicy, bool) {
	if model.Text(entry, "category") != categoryPolicy {
		return common, false
	}
	property := func(name string) string { return model.Text(entry, "properties", name) }
	out := common
	out.Target.Section = model.Text(entry, "rule")
	out.State, out.Level, out.Owner, out.AttachedTo = property("state"), property("level"), property("owner"),
		property("target")
	out.Reason, out.Values = property("reason"), property("values")
	out.Complete = common.Complete && property("complete") != "false"
	out.Via = splitList(property("via"))
	for _, name := range splitList(property("overriddenBy")) {
		out.OverriddenBy = append(out.OverriddenBy, parsePolicy(name))
	}
	if name := model.Text(entry, "policy"); name != noPolicy {
		ref := parsePolicy(name)
		out.Policy, out.PolicyKind = &ref, ref.GroupKind().String()
		if kind := property("policyKind"); kind != "" {
			out.PolicyKind = kind
		}
	}
	return out, out.State != ""
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ", ")
}
