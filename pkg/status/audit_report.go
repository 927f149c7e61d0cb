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
	ObservedGeneration int64 // the generation of the object that it is about; 0: not said
}

// Report is what one controller reports towards one ancestor or parent; a nil Ref means that the
// conditions are the object's own.
type Report struct {
	Ref        *model.Ref
	Port       int32
	Controller string
	Conditions []Reported
}

// conditionOfType returns the condition of a type, nil if there is none.
func (r *Report) conditionOfType(kind string) *Reported {
	for i := range r.Conditions {
		if r.Conditions[i].Type == kind {
			return &r.Conditions[i]
		}
	}
	return nil
}

// isRefused reports whether the object is said not to be accepted.
func (r *Report) isRefused() bool {
	accepted := r.conditionOfType(typeAccepted)
	return accepted != nil && accepted.Status == "False"
}

// isPending reports whether a condition is the one with which objects are created: nobody has
// judged them yet.
func (r *Reported) isPending() bool {
	return r.Status == "Unknown" && r.Reason == string(gatewayv1.GatewayReasonPending)
}

// ReadReports returns what the status of an object says, or of its listener of that name: own
// conditions first, then by ancestor and controller. References have their defaults filled in
// (gatewayapi G5). What has not the form of a condition is left out.
func ReadReports(o *model.Object, listener string) []Report {
	if o == nil {
		return nil
	}
	status := o.Body.At("status")
	if listener != "" {
		entry, found := listenerEntry(status, listener)
		if !found {
			return nil
		}
		return []Report{{Conditions: readConditions(entry)}}
	}
	var out []Report
	if own := readConditions(status); len(own) > 0 {
		observed := toInteger(status.Field("observedGeneration")) // of those that do not say it themselves
		for i := range own {
			own[i].ObservedGeneration = cmp.Or(own[i].ObservedGeneration, observed)
		}
		out = append(out, Report{Conditions: own})
	}
	for _, form := range []struct{ list, ref string }{{"ancestors", "ancestorRef"}, {"parents", "parentRef"}} {
		for _, entry := range status.Field(form.list).Items {
			ref, port := readReference(entry.Field(form.ref), o.Ref.Namespace)
			if ref.Name != "" {
				out = append(out, Report{Ref: &ref, Port: port, Controller: entry.Text("controllerName"),
					Conditions: readConditions(entry)})
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

// listenerEntry returns the entry of a listener in the status of its Gateway or ListenerSet.
func listenerEntry(status model.Body, name string) (model.Body, bool) {
	for _, entry := range status.Field("listeners").Items {
		if entry.Text("name") == name {
			return entry, true
		}
	}
	return model.Body{}, false
}

// readReference returns a reference of a status with its defaults filled in.
func readReference(b model.Body, namespace string) (model.Ref, int32) {
	ref := model.Ref{Group: gatewayv1.GroupName, Kind: cmp.Or(b.Text("kind"), "Gateway"),
		Namespace: cmp.Or(b.Text("namespace"), namespace),
		Name:      b.Text("name"), Section: b.Text("sectionName")}
	if b.Field("group").IsText() {
		ref.Group = b.Text("group")
	}
	return ref, int32(toInteger(b.Field("port")))
}

// restoreRefs gives reported references the form of the predicted ones that have no kind: the API
// fills in the kind on the way, and the namespace is read as the object's.
func (c *comparison) restoreRefs() {
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

// readConditions returns the conditions below a part of a status, each type once.
func readConditions(b model.Body) []Reported {
	var out []Reported
	for _, c := range b.Field("conditions").Items {
		r := Reported{Condition{c.Text("type"), c.Text("status"), c.Text("reason"), c.Text("message")},
			toInteger(c.Field("observedGeneration"))}
		if r.Type != "" && r.Status != "" &&
			!slices.ContainsFunc(out, func(have Reported) bool { return have.Type == r.Type }) {
			out = append(out, r)
		}
	}
	return out
}

// toInteger returns a number without a fraction, 0 if b is none.
func toInteger(b model.Body) int64 {
	switch v := b.Value().(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// readPolicyReports is ReadReports for a policy, whose kind may have words in the place of
// conditions: they are the object's own conditions.
func readPolicyReports(k *policy.Kind, o *model.Object) []Report {
	out := ReadReports(o, "")
	if o == nil || k == nil {
		return out
	}
	var words []Reported
	for _, f := range k.Status.States {
		if word := readState(o.Body, f.At, f.Words); word != "" {
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

// readState returns the word at a place, the first of several by their keys; "" if there is none.
func readState(b model.Body, at, words []string) string {
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
			if word := readState(b.Field(key), at[i+1:], words); word != "" {
				return word
			}
		}
		return ""
	}
	if n := toInteger(b); !b.IsNull() && !b.IsText() && n >= 0 && n < int64(len(words)) {
		return words[n]
	}
	return b.Text()
}

// HasStatus reports whether any object of a snapshot that could say something about policies has
// conditions, or what its kind has in their place.
func HasStatus(in *model.Snapshot, kinds []*resolve.Kind) bool {
	for _, k := range kinds {
		if slices.ContainsFunc(in.OfKind(k.GroupKind),
			func(o *model.Object) bool { return len(readPolicyReports(k.Kind, o)) > 0 }) {
			return true
		}
	}
	return slices.ContainsFunc(in.Objects, func(o *model.Object) bool {
		return o.Ref.Group != "" && o.Ref.Group != "apiextensions.k8s.io" && (len(ReadReports(o, "")) > 0 ||
			o.Body.At("status", "listeners").Len() > 0)
	})
}

// isServed reports whether an object is as a server holds it, so that what its status lacks is not
// reported. A manifest has no status.
func isServed(o *model.Object) bool {
	return o.Origin.Cluster != "" || o.Body.At("status").IsObject() || o.Text("metadata", "uid") != "" ||
		o.Text("metadata", "resourceVersion") != ""
}
