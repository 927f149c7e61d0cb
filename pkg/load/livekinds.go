package load

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// after are the kinds that are read because of objects that were, or that may not be read.
func (r *liveReader) after() []*model.ServedKind {
	wanted := map[model.GroupKind]bool{}
	note := func(by model.GroupKind) {
		for _, gk := range r.o.After[by] {
			wanted[gk] = true
		}
	}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			note(o.Ref.GroupKind())
		}
	}
	for gk := range r.forbidden {
		note(gk)
	}
	var out []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; wanted[k.GroupKind] && !r.asked[k.GroupKind] {
			out = append(out, k)
		}
	}
	return out
}

// mostSingly is up to how many definitions are asked for by their names. They are large, and most of those of a cluster define nothing that
// answers depend on.
const mostSingly = 32

// definitions are the lists of CustomResourceDefinitions, if they have to be looked at: some kind served is neither known nor one of
// Kubernetes' own, or is read as its definition says. They come from the server's cache, as what it serves does.
func (r *liveReader) definitions() []job {
	i := slices.IndexFunc(r.served, func(k model.ServedKind) bool { return k.GroupKind == model.DefinitionKind() })
	var names []string
	for _, k := range r.served {
		if r.o.Policies != nil && r.unexplained(k) || r.undecided(k) {
			names = append(names, k.Resource())
		}
	}
	if i < 0 || len(names) == 0 {
		return nil
	}
	all := job{kind: &r.served[i], keep: r.o.matters, cached: true}
	if r.o.Schemas || r.o.Cache != nil || len(names) > mostSingly { // what is watched has to be listed
		return []job{all}
	}
	jobs := make([]job, len(names))
	for i, name := range names {
		jobs[i] = all
		jobs[i].field = "metadata.name=" + name
	}
	return jobs
}

// otherKinds reports whether definitions may tell of policy kinds that are asked about and not known.
func (r *liveReader) otherKinds() bool {
	return r.o.Policies != nil && slices.ContainsFunc(r.served, r.unexplained)
}

func (r *liveReader) undecided(k model.ServedKind) bool {
	return slices.Contains(r.o.Undecided, k.GroupKind)
}

// matters reports whether a definition is kept.
func (o LiveOptions) matters(definition *model.Object) bool {
	gk, _ := definition.Defines()
	return slices.Contains(o.Undecided, gk) || o.Policies != nil && o.Policies(definition)
}

func (r *liveReader) unexplained(k model.ServedKind) bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io") && !slices.Contains(r.o.Kinds, k.GroupKind)
}

// discovered are the kinds that the objects read so far point at and that are not read yet: those whose definitions say that they are
// policies, and those that policies target.
func (r *liveReader) discovered() (policies, targets []*model.ServedKind) {
	defined, targeted := map[model.GroupKind]bool{}, map[model.GroupKind]bool{}
	if refused := r.forbidden[model.DefinitionKind()]; refused != nil {
		for _, k := range r.served {
			defined[k.GroupKind] = r.unexplained(k) && strings.HasSuffix(k.Kind, "Policy")
		}
	}
	for _, out := range r.outcomes {
		for _, o := range out.objects {
			if gk, ok := o.Defines(); ok {
				defined[gk] = true
			}
			targetKinds(o, targeted)
		}
	}
	for i := range r.served {
		switch k := &r.served[i]; {
		case r.asked[k.GroupKind] || isSecretKind(k.GroupKind):
		case defined[k.GroupKind]:
			policies = append(policies, k)
		case targeted[k.GroupKind]:
			r.bones[k.GroupKind] = true
			targets = append(targets, k)
		}
	}
	return policies, targets
}

// targetKinds adds the kinds that o, if it is a policy, names as its targets.
func targetKinds(o *model.Object, to map[model.GroupKind]bool) {
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
