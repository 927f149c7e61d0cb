package redaction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/redact"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Help is what the help of --redact says.
const Help = `--redact takes these out before anything is computed:
  - values of policy settings, and their conditions (when)
  - values of headers and query parameters
  - annotations, except those by which policies attach or are ordered
  - messages of statuses, and what problems quote
  - environment variables, commands and volumes of workloads
  - the content of objects of unknown kinds
These stay, so that answers still show which setting is in force and which is overridden: names, namespaces, kinds,
labels, targets, hostnames, addresses, ports, paths, durations of routes, and the types, states and reasons of conditions.
What depends on a value that is gone is not known, and the answer says so: blocks with a condition count as not applied,
and objects are not validated by schemas. docs/redact.md lists what stays of every kind.`

// FlagUsage is the help text of --redact where answers are printed.
const FlagUsage = "leave out the values of policy settings, headers, annotations and more (docs/redact.md)"

// Redact returns the input without the values of the settings of policies. They are taken
// out before anything is computed, so that no answer can repeat them.
func Redact(full *dopolicy.Input) *dopolicy.Input {
	in := full.Snapshot
	bodies, lacks := redactObjects(full)
	objects := slices.Clone(in.Objects)
	for i, o := range objects {
		kept := *o
		kept.Body = model.Pack(bodies[i], o.Body.Line)
		kept.Annotations = nil
		for name, value := range kept.Body.At("metadata", "annotations").Fields {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[name] = value.Text()
		}
		objects[i] = &kept
	}
	less := model.NewSnapshot(objects, append(redact.Problems(in.Problems), lacks...))
	less.CopyScope(in)
	less.Redacted = true
	out := full.With(less)
	differing := findRedactionChanges(full.Resolution, out.Resolution)
	less.Problems = append(less.Problems, differing...)
	out.Problems = append(out.Problems, differing...)
	return out
}

// redactObjects returns the objects of the input without what package redact does not keep, and
// what answers lack for it. Objects of unknown kinds keep only their identity and what they refer
// to.
func redactObjects(in *dopolicy.Input) (objects []any, lacks []model.Problem) {
	policies := map[model.Ref]*policy.Policy{}
	judging := map[model.GroupKind]int{}
	read := map[model.GroupKind]bool{} // by the kinds that are there
	for _, k := range in.Kinds {
		for _, p := range k.Policies {
			policies[p.Ref()] = p
		}
		if len(k.Policies) == 0 {
			continue
		}
		for _, gk := range k.Reads {
			read[gk] = true
		}
		if k.Evaluate != "" || k.AtPoints {
			judging[k.GroupKind] = len(k.Policies)
		}
	}
	known := append(gatewayapi.Kinds(), model.DefinitionKind())
	r := redact.New(annotationUse(in.Engine().Catalog().Knowledge()))
	for _, o := range in.Snapshot.Objects {
		switch p, gk := policies[o.Ref], o.Ref.GroupKind(); {
		case p != nil:
			objects = append(objects, r.Policy(p))
		case slices.Contains(known, gk) && !strings.HasSuffix(gk.Kind, "Policy"):
			objects = append(objects, r.KnownObject(o))
		case read[gk]:
			objects = append(objects, r.DependencyObject(o))
		default:
			kept := r.KnownObject(o)
			if spec := unread.NamingFields(o); spec != nil && in.Kind(gk) == nil && kept["spec"] == nil {
				kept["spec"] = spec
			}
			objects = append(objects, kept)
		}
	}
	return objects, missingValueProblems(r.IncompleteObjects(), judging)
}

// missingValueProblems says which answers are not known for want of values.
func missingValueProblems(read, judging map[model.GroupKind]int) []model.Problem {
	var out []model.Problem
	const hint = "ask without --redact"
	for gk, n := range read {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: hint,
			Message: fmt.Sprintf("texts in objects on which policies depend are left out (redacted): %d of kind %s", n,
				gk)})
	}
	for gk, n := range judging {
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: hint,
			Message: fmt.Sprintf(
				"what policies decide about requests is not known, values are left out (redacted): %d of kind %s", n,
				gk)})
	}
	return model.SortProblems(out)
}

// annotationUse returns the function that says which annotations stay.
func annotationUse(k *descriptor.Knowledge) redact.AnnotationUses {
	return func(kind, name string) redact.Use {
		switch k.UseOf(name) {
		case descriptor.ForWords:
			return redact.Stays
		case descriptor.ForPresence:
			return redact.Replaced
		case descriptor.ForSettings:
			return redact.Withheld
		}
		switch {
		case name == check.IgnoreAnnotation:
			return redact.Stays
		case k.FindUnread(kind, name) != nil:
			return redact.Replaced
		}
		return redact.Dropped
	}
}
