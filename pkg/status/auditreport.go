package status

import (
	"cmp"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Reported is a condition as an object reports it.
type Reported struct {
	Condition
	Observed int64 // the generation of the object that it is about; 0: not said
}

// Report is what one controller reports towards one ancestor or parent; a nil Ref means that the conditions are the object's own.
type Report struct {
	Ref        *model.Ref
	Port       int32
	Controller string
	Conditions []Reported
}

// condition is the condition of a type, nil if there is none.
func (r *Report) condition(kind string) *Reported {
	for i := range r.Conditions {
		if r.Conditions[i].Type == kind {
			return &r.Conditions[i]
		}
	}
	return nil
}

// refused reports whether the object is said not to be accepted.
func (r *Report) refused() bool {
	accepted := r.condition(typeAccepted)
	return accepted != nil && accepted.Status == "False"
}

// pending reports whether a condition is the one with which objects are created: nobody has judged them yet.
func (r *Reported) pending() bool {
	return r.Status == "Unknown" && r.Reason == string(gatewayv1.GatewayReasonPending)
}

// Reports is what the status of an object says, or of its listener of that name: own conditions first, then by ancestor and controller.
// References have their defaults filled in (gatewayapi G5). What has not the form of a condition is left out.
func Reports(o *model.Object, listener string) []Report {
	if o == nil {
		return nil
	}
	status := o.Body.At("status")
	if listener != "" {
		entry, found := listenerEntry(status, listener)
		if !found {
			return nil
		}
		return []Report{{Conditions: conditionsIn(entry)}}
	}
	var out []Report
	if own := conditionsIn(status); len(own) > 0 {
		observed := integer(status.Field("observedGeneration")) // of those that do not say it themselves
		for i := range own {
			own[i].Observed = cmp.Or(own[i].Observed, observed)
		}
		out = append(out, Report{Conditions: own})
	}
	for _, form := range []struct{ list, ref string }{{"ancestors", "ancestorRef"}, {"parents", "parentRef"}} {
		for _, entry := range status.Field(form.list).Items {
			ref, port := referenceIn(entry.Field(form.ref), o.Ref.Namespace)
			if ref.Name != "" {
				out = append(out, Report{Ref: &ref, Port: port, Controller: entry.Text("controllerName"), Conditions: conditionsIn(entry)})
			}
		}
	}
	slices.SortStableFunc(out, compareReports)
	return out
}

func compareReports(a, b Report) int {
	switch {
	case a.Ref == nil && b.Ref == nil:
		return 0
	case a.Ref == nil:
		return -1
	case b.Ref == nil:
		return 1
	}
	return cmp.Or(a.Ref.Compare(*b.Ref), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Controller, b.Controller))
}

// listenerEntry is the entry of a listener in the status of its Gateway or ListenerSet.
func listenerEntry(status model.Body, name string) (model.Body, bool) {
	for _, entry := range status.Field("listeners").Items {
		if entry.Text("name") == name {
			return entry, true
		}
	}
	return model.Body{}, false
}

// referenceIn is a reference of a status with its defaults filled in.
func referenceIn(b model.Body, namespace string) (model.Ref, int32) {
	ref := model.Ref{Group: gatewayv1.GroupName, Kind: cmp.Or(b.Text("kind"), "Gateway"), Namespace: cmp.Or(b.Text("namespace"), namespace),
		Name: b.Text("name"), Section: b.Text("sectionName")}
	if b.Field("group").IsText() {
		ref.Group = b.Text("group")
	}
	return ref, int32(integer(b.Field("port")))
}

// undefault names what is reported for a predicted reference without a kind as the prediction does: the API fills in the kind on the way, and
// the namespace is read as the object's.
func (c *comparison) undefault() {
	for _, e := range c.p.Ancestors {
		if e.Ref == nil || e.Ref.Kind != "" {
			continue
		}
		filled := *e.Ref
		filled.Kind, filled.Namespace = "Gateway", cmp.Or(filled.Namespace, c.object.Ref.Namespace)
		for i := range c.reports {
			if ref := c.reports[i].Ref; ref != nil && *ref == filled {
				c.reports[i].Ref = e.Ref
			}
		}
	}
}

// conditionsIn are the conditions below a part of a status, each type once.
func conditionsIn(b model.Body) []Reported {
	var out []Reported
	for _, c := range b.Field("conditions").Items {
		r := Reported{Condition{c.Text("type"), c.Text("status"), c.Text("reason"), c.Text("message")}, integer(c.Field("observedGeneration"))}
		if r.Type != "" && r.Status != "" && !slices.ContainsFunc(out, func(have Reported) bool { return have.Type == r.Type }) {
			out = append(out, r)
		}
	}
	return out
}

// integer is a number without a fraction, 0 if b is none.
func integer(b model.Body) int64 {
	switch v := b.Value().(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// policyReports is Reports for a policy, whose kind may have words in the place of conditions: they are the object's own conditions.
func policyReports(k *policy.Kind, o *model.Object) []Report {
	out := Reports(o, "")
	if o == nil || k == nil {
		return out
	}
	var words []Reported
	for _, f := range k.Status.States {
		if word := stateIn(o.Body, f.At, f.Words); word != "" {
			words = append(words, Reported{Condition: Condition{Type: f.Type(), Status: word, Reason: word}})
		}
	}
	switch {
	case len(words) == 0:
	case len(out) > 0 && out[0].Ref == nil:
		out[0].Conditions = append(out[0].Conditions, words...)
	default:
		out = slices.Insert(out, 0, Report{Conditions: words})
	}
	return out
}

// stateIn is the word at a place, the first of several by their keys; "" if there is none.
func stateIn(b model.Body, at, words []string) string {
	for i, step := range at {
		if step != "*" {
			b = b.Field(step)
			continue
		}
		var keys []string
		for key := range b.Fields {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if word := stateIn(b.Field(key), at[i+1:], words); word != "" {
				return word
			}
		}
		return ""
	}
	if n := integer(b); !b.IsNull() && !b.IsText() && n >= 0 && n < int64(len(words)) {
		return words[n]
	}
	return b.Text()
}

// HasStatus reports whether any object of a snapshot that could say something about policies has conditions, or what its kind has in their place.
func HasStatus(in *model.Snapshot, kinds []*resolve.Kind) bool {
	for _, k := range kinds {
		if slices.ContainsFunc(in.Of(k.GroupKind), func(o *model.Object) bool { return len(policyReports(k.Kind, o)) > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(in.Objects, func(o *model.Object) bool {
		return o.Ref.Group != "" && o.Ref.Group != "apiextensions.k8s.io" && (len(Reports(o, "")) > 0 || o.Body.At("status", "listeners").Len() > 0)
	})
}

// served reports whether an object is as a server holds it, so that what its status lacks is not reported. A manifest has no status.
func served(o *model.Object) bool {
	return o.Origin.Cluster != "" || o.Body.At("status").IsObject() || o.Text("metadata", "uid") != "" || o.Text("metadata", "resourceVersion") != ""
}
