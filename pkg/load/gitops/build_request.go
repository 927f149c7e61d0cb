package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// buildRequest asks for a build of the kustomization in a folder.
type buildRequest struct {
	dir, allowedRoot filesys.ConfirmedDir
	name             string // of the folder, as the user would type it
	generated        *types.Kustomization
	modify           func(*types.Kustomization)
	postBuild        *postBuild
	namespace        string        // of objects without one; "" for that of all
	source           *gitopsSource // nil: nothing led to it
}

// buildAndAdd adds what comes out of a build. A build that fails costs what it would have made, and
// is told.
func (r *renderer) buildAndAdd(ctx context.Context, o buildRequest) error {
	if r.buildStuck {
		r.addBuildFailure(o, errors.New("an earlier build did not end, and no other can be run"), "")
		return nil
	}
	start := time.Now()
	pieces, err := r.buildFolder(ctx, o)
	r.buildTime += time.Since(start)
	var failed *document.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case kustomize.IsTooLarge(err):
		return err
	case errors.As(err, &failed):
		r.buildStuck = kustomize.IsUnfinished(err)
		r.addBuildFailure(o, failed, failed.Hint)
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		r.buildStuck = true
		r.addBuildFailure(o, fmt.Errorf("all builds together take longer than %s", r.limits.Build), kustomize.BuildHint)
		return nil
	case err != nil:
		return err
	}
	for i := range pieces {
		pieces[i].Namespace = o.namespace
	}
	if found := r.addDocuments(pieces, o.source); o.source == nil {
		r.noteTopSources(found, o.dir.String())
	}
	return nil
}

func (r *renderer) buildFolder(ctx context.Context, o buildRequest) ([]document.Raw, error) {
	limits := r.limits
	limits.Build -= r.buildTime
	ctx, stop := context.WithTimeout(ctx, limits.Build)
	defer stop()
	if o.allowedRoot == "" {
		o.allowedRoot = r.workspace.rootOf(o.dir)
	}
	b := kustomize.FolderBuild{Dir: o.dir, AllowedRoot: o.allowedRoot, NoteOutside: r.noteOutside(o), Name: o.name,
		Generated: o.generated, Modify: o.modify, Limits: limits}
	switch {
	case o.postBuild != nil:
		b.FinishObject = o.postBuild.objectText
	case len(r.options.Values) > 0:
		b.FinishObject = r.options.Values.FinishObject
	}
	pieces, missing, err := r.workspace.walk.BuildFolder(ctx, b)
	if err == nil {
		r.omissions.addMissingParts(missing, o.source, o.postBuild.knowsAll())
	}
	if o.source != nil && o.postBuild != nil && o.postBuild.variables != nil {
		r.addUnknownVariables(o.source, o.postBuild.variables)
	}
	if what := o.postBuild.unsetMessage(); err == nil && what != "" && o.source != nil {
		r.omissions.addRemark(o.source, what)
	}
	return pieces, err
}

// noteOutside returns what notes that a kustomization names files outside of its folder; nil where
// what deploys it reads them, as Flux does.
func (r *renderer) noteOutside(o buildRequest) func(kustomization string, at model.Origin) {
	isFlux := func(l *gitopsSource) bool { return l.kind == fluxKustomization }
	if r.readsAnywhere || o.source != nil && isFlux(o.source) ||
		o.source == nil && slices.ContainsFunc(r.foundSources, isFlux) {
		return nil
	}
	return func(kustomization string, at model.Origin) {
		key := "outside " + kustomization
		if r.seen[key] {
			return
		}
		r.seen[key] = true
		r.omissions.remarks = append(r.omissions.remarks, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Origin: &at, Message: "kustomization " + kustomization + " names files outside of its folder, which are read",
			Hint: "kustomize and Argo CD refuse it unless they are run with --load-restrictor=LoadRestrictionsNone"})
	}
}

// addUnknownVariables tells of the variables without a value that a build came upon.
func (r *renderer) addUnknownVariables(l *gitopsSource, v *variables) {
	if v.hiddenUsed && v.differs {
		r.omissions.addPartlyKnown(l, differingVariables, differingVariablesHint)
	}
	if v.hiddenUsed && !v.differs || v.unknownUsed && v.lacksSecret {
		r.omissions.addPartlyKnown(l, secretVariables, secretVariablesHint)
	}
	if v.unknownUsed && v.lacksConfigMap {
		r.omissions.addPartlyKnown(l, configMapVariables, configMapVariablesHint)
	}
	if v.missingUsed {
		r.omissions.addPartlyKnown(l, optionalVariables, optionalVariablesHint)
	}
}

// addBuildFailure tells that something could not be built.
func (r *renderer) addBuildFailure(o buildRequest, err error, hint string) {
	if at, ok := err.(*document.Error); ok && at.What == o.name {
		err = at.Err
	}
	by := "kustomization " + o.name
	if o.source == nil && kustomize.IsTemplate(err) {
		r.omissions.addOmission(omission{kind: "kustomization", why: templateNotRendered, hint: templateHint,
			origin: model.Origin{File: o.name}}, partOf{by, r.namespaceOf(o)})
		return
	}
	if o.source != nil {
		by = o.source.String()
	}
	r.reader.AddOmission(by, "is not built: "+err.Error(), r.namespaceOf(o))
	p := model.Problem{Severity: model.Error, Code: model.NotEvaluated, Origin: &model.Origin{File: o.name},
		Message: "the kustomization in " + o.name + " is not built: " + err.Error(), Hint: hint}
	if o.source != nil {
		p.Origin = &o.source.origin
		p.Message = o.source.String() + ": " + p.Message
	}
	r.reader.Problems = append(r.reader.Problems, p)
}

// namespaceOf returns the namespace that a build puts its objects into; "" where they may be in any.
func (r *renderer) namespaceOf(o buildRequest) string {
	k := types.Kustomization{}
	if of, err := r.workspace.walk.OpenFolder(context.Background(), o.dir, o.name); err == nil {
		k.Namespace = of.Namespace
	}
	if o.modify != nil {
		o.modify(&k)
	}
	return cmp.Or(k.Namespace, o.namespace)
}
