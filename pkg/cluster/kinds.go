package cluster

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// dependentKinds returns the kinds that are read because of objects that were, or that may not be
// read.
func (r *reader) dependentKinds() []*model.ServedKind {
	wanted := map[model.GroupKind]bool{}
	note := func(by model.GroupKind) {
		for _, gk := range r.options.DependentKinds[by] {
			wanted[gk] = true
		}
	}
	for _, out := range r.results {
		for _, o := range out.Objects {
			note(o.Ref.GroupKind())
		}
	}
	for gk := range r.refusals {
		note(gk)
	}
	var out []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; wanted[k.GroupKind] && !r.listed[k.GroupKind] {
			out = append(out, k)
		}
	}
	return out
}

// maxNamedDefinitions is up to how many definitions are asked for by their names. They are large,
// and most of those of a cluster define nothing that answers depend on.
const maxNamedDefinitions = 32

// definitionJobs returns the lists of CustomResourceDefinitions, if they have to be looked at: some
// kind served is neither known nor one of Kubernetes' own, or is read as its definition says. They
// come from the server's cache, as what it serves does.
func (r *reader) definitionJobs() []listJob {
	i := slices.IndexFunc(r.served, func(k model.ServedKind) bool { return k.GroupKind == model.DefinitionKind() })
	var names []string
	for _, k := range r.served {
		if r.options.IsPolicyKind != nil && r.isUnknownKind(k) || r.isUndecided(k) {
			names = append(names, k.Resource())
		}
	}
	if i < 0 || len(names) == 0 {
		return nil
	}
	all := listJob{kind: &r.served[i], isKept: r.options.isNeededDefinition, fromCache: true}
	// what is watched has to be listed
	if r.options.AllDefinitions || r.options.Cache != nil || len(names) > maxNamedDefinitions {
		return []listJob{all}
	}
	jobs := make([]listJob, len(names))
	for i, name := range names {
		jobs[i] = all
		jobs[i].fieldSelector = "metadata.name=" + name
	}
	return jobs
}

// hasUnknownKinds reports whether definitions may tell of policy kinds that are asked about and not
// known.
func (r *reader) hasUnknownKinds() bool {
	return r.options.IsPolicyKind != nil && slices.ContainsFunc(r.served, r.isUnknownKind)
}

func (r *reader) isUndecided(k model.ServedKind) bool {
	return slices.Contains(r.options.UndecidedKinds, k.GroupKind)
}

// isNeededDefinition reports whether a definition is kept.
func (o Options) isNeededDefinition(definition *model.Object) bool {
	gk, _ := definition.DefinedKind()
	return slices.Contains(o.UndecidedKinds, gk) || o.IsPolicyKind != nil && o.IsPolicyKind(definition)
}

func (r *reader) isUnknownKind(k model.ServedKind) bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io") &&
		!slices.Contains(r.options.Kinds, k.GroupKind)
}

// findReferencedKinds returns the kinds that the objects read so far point at and that are not read
// yet: those whose definitions say that they are policies, and those that policies target.
func (r *reader) findReferencedKinds() (policies, targets []*model.ServedKind) {
	defined, targeted := map[model.GroupKind]bool{}, map[model.GroupKind]bool{}
	if refused := r.refusals[model.DefinitionKind()]; refused != nil {
		for _, k := range r.served {
			defined[k.GroupKind] = r.isUnknownKind(k) && strings.HasSuffix(k.Kind, "Policy")
		}
	}
	for _, out := range r.results {
		for _, o := range out.Objects {
			if gk, ok := o.DefinedKind(); ok {
				defined[gk] = true
			}
			collectTargetKinds(o, targeted)
		}
	}
	for i := range r.served {
		switch k := &r.served[i]; {
		case r.listed[k.GroupKind] || isSecretKind(k.GroupKind):
		case defined[k.GroupKind]:
			policies = append(policies, k)
		case targeted[k.GroupKind]:
			r.targetsOnly[k.GroupKind] = true
			targets = append(targets, k)
		}
	}
	return policies, targets
}

// collectTargetKinds adds the kinds that o, if it is a policy, names as its targets.
func collectTargetKinds(o *model.Object, to map[model.GroupKind]bool) {
	add := func(ref model.Body) {
		if kind := ref.Field("kind").Text(); kind != "" {
			group, _, _ := strings.Cut(ref.Field("group").Text(), "/")
			to[model.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	spec := o.Body.At("spec")
	add(spec.At("targetRef"))
	for _, field := range []string{"targetRefs", "targetSelectors"} {
		for _, ref := range spec.At(field).Items {
			add(ref)
		}
	}
}
