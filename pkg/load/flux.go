package load

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Why something is not rendered.
const (
	otherRepository = "the source is another repository than the one that is read"
	otherCluster    = "it is for another cluster"
	noPath          = "the path is not in the input"
	pathHint        = "paths count from the top of the git repository, or from the folder given with -f"
)

// What is said of variables from Secrets.
const (
	hiddenVariables = "variables come from Secrets, whose values are not read"
	hiddenHint      = "what needs them is left as it stands: ${NAME}"
	maybeVariables  = "it asks for variables that an optional Secret may have, which is not in the input and counts as missing"
	maybeHint       = "read the Secret too; of its keys only the names are read"
)

// flux builds what a Flux Kustomization deploys.
func (r *repo) flux(ctx context.Context, l *lead) error {
	dir, from, there := r.locate(l.text("spec", "path"))
	switch {
	case l.remote() && r.chosen == "":
		r.omit(l, otherCluster, destinationHint)
		return nil
	case !r.hand.holds(l.origins()[0]):
		r.omit(l, otherRepository, "read that too, rendered: flux build kustomization NAME --path FOLDER --dry-run")
		return nil
	case !there:
		r.omit(l, noPath, pathHint)
		return nil
	}
	if suspended, _ := model.Get(l.value, "spec", "suspend").(bool); suspended {
		r.remark(l, "is suspended: what is in the cluster may be older than "+from.nameOf(dir.String()))
	}
	o := order{dir: dir, within: from.dir, name: from.nameOf(dir.String()), by: l}
	o.finish = &finish{vars: r.variables(l), labels: textsAt(l.value, "spec", "commonMetadata", "labels"),
		annotations: textsAt(l.value, "spec", "commonMetadata", "annotations")}
	return r.overlaid(ctx, o, func(k *types.Kustomization) error { return r.fluxChange(l, dir, k) })
}

// overlaid builds a folder as something outside of it has it changed. One without a kustomization is given one.
func (r *repo) overlaid(ctx context.Context, o order, change func(*types.Kustomization) error) error {
	if r.kustomizationIn(o.dir) == "" {
		made, err := r.generated(o.dir)
		if err != nil {
			r.failed(o, cause(err), "")
			return nil
		}
		if len(made.Resources) == 0 {
			return nil
		}
		o.made = made
	}
	// Mistakes in what is changed show here, not in the middle of the walk.
	if err := change(&types.Kustomization{}); err != nil {
		r.failed(o, err, "")
		return nil
	}
	o.change = func(k *types.Kustomization) { _ = change(k) }
	return r.built(ctx, o)
}

// fluxChange changes a kustomization as Flux does.
func (r *land) fluxChange(l *lead, dir filesys.ConfirmedDir, k *types.Kustomization) error {
	if len(k.Resources) == 0 {
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations) // else it might be empty, which is an error
	}
	set := func(to *string, field string) {
		if text := l.text("spec", field); text != "" {
			*to = text
		}
	}
	set(&k.Namespace, "targetNamespace")
	set(&k.NamePrefix, "namePrefix")
	set(&k.NameSuffix, "nameSuffix")
	patches, err := patchesIn(l.list("spec", "patches"))
	if err != nil {
		return err
	}
	k.Patches = append(k.Patches, patches...)
	ignore, _ := model.Get(l.value, "spec", "ignoreMissingComponents").(bool)
	for _, c := range l.list("spec", "components") {
		if path, ok := c.(string); ok && (!ignore || r.walk.disk.Exists(dir.Join(path))) {
			k.Components = append(k.Components, path)
		}
	}
	for _, p := range l.list("spec", "patchesStrategicMerge") {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		//lint:ignore SA1019 it is still built
		k.PatchesStrategicMerge = append(k.PatchesStrategicMerge, types.PatchStrategicMerge(text))
	}
	for _, p := range l.list("spec", "patchesJson6902") {
		one, err := patchesIn([]any{p})
		if err != nil {
			return err
		}
		k.Patches = append(k.Patches, one...)
	}
	return nil
}

// patchesIn are patches as leads have them: texts or objects, with their targets.
func patchesIn(list []any) ([]types.Patch, error) {
	var out []types.Patch
	for _, v := range list {
		var p struct {
			Patch  json.RawMessage `json:"patch"`
			Target *types.Selector `json:"target"`
		}
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		if err != nil {
			return nil, plainly(err)
		}
		inline := string(p.Patch)
		if strings.HasPrefix(inline, `"`) {
			if err := json.Unmarshal(p.Patch, &inline); err != nil {
				return nil, plainly(err)
			}
		}
		out = append(out, types.Patch{Patch: inline, Target: p.Target})
	}
	return out, nil
}

// textsAt is the map of texts at a path.
func textsAt(v any, path ...string) map[string]string {
	m, _ := model.Get(v, path...).(map[string]any)
	out := map[string]string{}
	for key, v := range m {
		if text, ok := v.(string); ok {
			out[key] = text
		}
	}
	return out
}

// remark says something about a lead that was followed. The answer stands.
func (r *omissions) remark(l *lead, what string) {
	r.remarks = append(r.remarks, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Origin: &l.at, Message: l.String() + " " + what})
}

// filled reports whether everything is there that a lead takes values from, as far as it can be.
func (r *known) filled(l *lead) bool {
	return !slices.ContainsFunc(slices.Concat(l.list("spec", "postBuild", "substituteFrom"), l.list("spec", "valuesFrom")), func(from any) bool {
		return model.Text(from, "kind") == "ConfigMap" && r.configMap(l.namespace, model.Text(from, "name")) == nil
	})
}

// lacksSecret reports whether a Secret was not read that a lead takes variables from.
func (r *known) lacksSecret(l *lead) bool {
	return slices.ContainsFunc(l.list("spec", "postBuild", "substituteFrom"), func(from any) bool {
		return model.Text(from, "kind") == "Secret" && !r.holdsSecret(l.namespace, model.Text(from, "name"))
	})
}

// variables are those of a Flux Kustomization, from what it takes them from and itself.
func (r *repo) variables(l *lead) *variables {
	if model.Get(l.value, "spec", "postBuild") == nil {
		return nil
	}
	v := &variables{values: map[string]string{}, hidden: map[string]bool{}, unset: map[string]bool{}, always: l.text("spec", "postBuild", "substituteStrategy") == "Always"}
	for _, from := range l.list("spec", "postBuild", "substituteFrom") {
		kind, name := model.Text(from, "kind"), model.Text(from, "name")
		optional, _ := model.Get(from, "optional").(bool)
		values := r.configMap(l.namespace, name)
		switch {
		case kind == "ConfigMap" && values != nil:
			for key, value := range values {
				v.set(key, value)
			}
		case kind == "Secret" && r.holdsSecret(l.namespace, name):
			for key := range r.secretKeys(l.namespace, name) {
				v.hide(key)
			}
		case kind == "Secret" && optional:
			v.maybe = true
		case kind == "Secret":
			v.open = true
			r.omitPart(l, hiddenVariables, hiddenHint)
		case !optional:
			v.open = true
			r.omitPart(l, "variables come from ConfigMaps that are not in the input", "read them too")
		}
	}
	for key, value := range textsAt(l.value, "spec", "postBuild", "substitute") {
		v.set(key, value)
	}
	return v
}
