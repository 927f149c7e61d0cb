package gitops

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Why something is not rendered.
const (
	otherRepository = "the source is another repository than the one that is read"
	otherCluster    = "it is for another cluster"
	pathNotFound    = "the path is not in the input"
	pathHint        = "paths count from the top of the git repository, or from the folder given with -f; --source names another"
)

const resourceSetHint = "read what it makes instead: flux-operator build rset -f FILE"

// What is said of variables from Secrets.
const (
	secretVariables        = "variables come from Secrets, whose values are not read"
	secretVariablesHint    = "what needs them is left as it stands, ${NAME}: give them values with --substitute NAME=VALUE"
	configMapVariables     = "variables come from ConfigMaps that are not in the input"
	configMapVariablesHint = "read them too, or give values with --substitute NAME=VALUE"
	differingVariables     = "variables come from a ConfigMap that is in the input in several versions"
	differingVariablesHint = "read one cluster at a time, or give values with --substitute NAME=VALUE"
	optionalVariables      = "it asks for variables that an optional Secret may have, which is not in the input and counts as missing"
	optionalVariablesHint  = "read the Secret too, of which only the names of keys are read, or give values with --substitute NAME=VALUE"
)

// renderFluxKustomization builds what a Flux Kustomization deploys.
func (r *renderer) renderFluxKustomization(ctx context.Context, l *gitopsSource) error {
	repository := l.sourceRepositories()[0]
	dir, from, there := r.locateInRepository(repository, l.textAt("spec", "path"))
	switch {
	case l.isRemote() && r.destinations.chosen == "":
		r.omissions.addOmitted(l, otherCluster, destinationHint)
		return nil
	case !r.repositories.isLocal(repository):
		r.omissions.addOmitted(l, otherRepository, sourceHint(repository,
			"read that too, rendered: flux build kustomization NAME --path FOLDER --dry-run"))
		return nil
	case !there:
		r.omissions.addOmitted(l, pathNotFound, pathHint)
		return nil
	}
	if suspended, _ := model.Get(l.value, "spec", "suspend").(bool); suspended {
		r.omissions.addRemark(l, "is suspended: what is in the cluster may be older than "+
			from.displayName(dir.String()))
	}
	o := buildRequest{dir: dir, allowedRoot: from.dir, name: from.displayName(dir.String()), source: l}
	o.postBuild = &postBuild{variables: r.readVariables(l), labels: textMapAt(l.value, "spec",
		"commonMetadata", "labels"),
		annotations: textMapAt(l.value, "spec", "commonMetadata", "annotations")}
	return r.buildModified(ctx, o, func(k *types.Kustomization) error { return r.workspace.applyFluxFields(l, dir, k) })
}

// buildModified builds a folder as something outside of it has it changed. One without a
// kustomization is given one.
func (r *renderer) buildModified(ctx context.Context, o buildRequest, change func(*types.Kustomization) error) error {
	if r.workspace.findKustomizationFile(o.dir) == "" {
		made, err := r.workspace.generateKustomization(o.dir)
		if err != nil {
			r.addBuildFailure(o, document.CauseOf(err), "")
			return nil
		}
		if len(made.Resources) == 0 {
			return nil
		}
		o.generated = made
	}
	// Mistakes in what is changed show here, not in the middle of the walk.
	if err := change(&types.Kustomization{}); err != nil {
		r.addBuildFailure(o, err, "")
		return nil
	}
	o.modify = func(k *types.Kustomization) { _ = change(k) }
	return r.buildAndAdd(ctx, o)
}

// applyFluxFields changes a kustomization as Flux does.
func (r *workspace) applyFluxFields(l *gitopsSource, dir filesys.ConfirmedDir, k *types.Kustomization) error {
	if len(k.Resources) == 0 {
		k.BuildMetadata = append(k.BuildMetadata, types.OriginAnnotations) // else it might be empty, which is an error
	}
	set := func(to *string, field string) {
		if text := l.textAt("spec", field); text != "" {
			*to = text
		}
	}
	set(&k.Namespace, "targetNamespace")
	set(&k.NamePrefix, "namePrefix")
	set(&k.NameSuffix, "nameSuffix")
	patches, err := parsePatches(l.listAt("spec", "patches"))
	if err != nil {
		return err
	}
	k.Patches = append(k.Patches, patches...)
	ignore, _ := model.Get(l.value, "spec", "ignoreMissingComponents").(bool)
	for _, c := range l.listAt("spec", "components") {
		if path, ok := c.(string); ok && (!ignore || r.fileSystem.Exists(dir.Join(path))) {
			k.Components = append(k.Components, path)
		}
	}
	for _, p := range l.listAt("spec", "patchesStrategicMerge") {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		//lint:ignore SA1019 it is still built
		k.PatchesStrategicMerge = append(k.PatchesStrategicMerge, types.PatchStrategicMerge(text))
	}
	for _, p := range l.listAt("spec", "patchesJson6902") {
		one, err := parsePatches([]any{p})
		if err != nil {
			return err
		}
		k.Patches = append(k.Patches, one...)
	}
	return nil
}

// parsePatches reads patches as sources have them: texts or objects, with their targets.
func parsePatches(list []any) ([]types.Patch, error) {
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
			return nil, kustomize.ShortenError(err)
		}
		inline := string(p.Patch)
		if strings.HasPrefix(inline, `"`) {
			if err := json.Unmarshal(p.Patch, &inline); err != nil {
				return nil, kustomize.ShortenError(err)
			}
		}
		out = append(out, types.Patch{Patch: inline, Target: p.Target})
	}
	return out, nil
}

// textMapAt returns the map of texts at a path.
func textMapAt(v any, path ...string) map[string]string {
	m, _ := model.Get(v, path...).(map[string]any)
	out := map[string]string{}
	for key, v := range m {
		if text, ok := v.(string); ok {
			out[key] = text
		}
	}
	return out
}

// addRemark says something about a source that was followed. The answer stands.
func (r *omissions) addRemark(l *gitopsSource, what string) {
	r.remarks = append(r.remarks, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Origin: &l.origin,
		Message: l.String() + " " + what})
}

// hasConfigMaps reports whether everything is there that a source takes values from, as far as it
// can be.
func (r *manifestIndex) hasConfigMaps(l *gitopsSource) bool {
	return !slices.ContainsFunc(slices.Concat(l.listAt("spec", "postBuild", "substituteFrom"),
		l.listAt("spec", "valuesFrom")), func(from any) bool {
		return model.Text(from, "kind") == "ConfigMap" && r.findConfigMap(l.namespace, model.Text(from, "name")) == nil
	})
}

// isSecretMissing reports whether a Secret was not read that a source takes variables from.
func (r *manifestIndex) isSecretMissing(l *gitopsSource) bool {
	return slices.ContainsFunc(l.listAt("spec", "postBuild", "substituteFrom"), func(from any) bool {
		return model.Text(from, "kind") == "Secret" && !r.hasSecret(l.namespace, model.Text(from, "name"))
	})
}

// readVariables returns the variables of a Flux Kustomization, from what it takes them from and
// itself.
func (r *renderer) readVariables(l *gitopsSource) *variables {
	if model.Get(l.value, "spec", "postBuild") == nil {
		return nil
	}
	v := &variables{values: map[string]string{}, hidden: map[string]bool{}, unset: map[string]bool{},
		replaceAlways: l.textAt("spec", "postBuild", "substituteStrategy") == "Always"}
	for _, from := range l.listAt("spec", "postBuild", "substituteFrom") {
		kind, name := model.Text(from, "kind"), model.Text(from, "name")
		optional, _ := model.Get(from, "optional").(bool)
		values := r.index.findConfigMap(l.namespace, name)
		if kind == "ConfigMap" && values == nil || kind == "Secret" && !r.index.hasSecret(l.namespace, name) {
			r.index.noteMissing(kind, l.namespace, name)
		}
		switch {
		case kind == "ConfigMap" && values != nil:
			differing := r.index.differingKeys(l.namespace, name)
			r.index.noteUsed(l.namespace, name, len(differing))
			for key, value := range values {
				v.setValue(key, value)
			}
			for key := range differing {
				v.hideValue(key)
				v.differs = true
			}
		case kind == "Secret" && r.index.hasSecret(l.namespace, name):
			for key := range r.index.findSecretKeys(l.namespace, name) {
				v.hideValue(key)
			}
		case kind == "Secret" && optional:
			v.secretMissing = true
		case kind == "Secret":
			v.incomplete, v.lacksSecret = true, true
		case !optional:
			v.incomplete, v.lacksConfigMap = true, true
		}
	}
	for key, value := range textMapAt(l.value, "spec", "postBuild", "substitute") {
		v.setValue(key, value)
	}
	v.addUserValues(r.options.Values)
	return v
}
