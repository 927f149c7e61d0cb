package gitops

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
)

// renderer reads a folder as the tools do that deploy what it holds: kustomizations are built, and
// what objects lead to (Flux Kustomizations, Argo CD Applications, Helm releases) is read through
// these objects and not otherwise.
type renderer struct {
	options      Options
	limits       document.Limits
	charts       *helm.Renderer // nil: charts are not rendered
	reader       *input.Reader
	workspace    workspace     // the folders of the input
	index        manifestIndex // of what was read up to now
	omissions    omissions     // what is not rendered
	destinations destinations  // the clusters that it is for
	unusedFiles  []string      // manifests that no kustomization names, in folders of which others are named
	objectFiles  fileSet       // the files that look as if there were objects in them
	deployments  *deployments  // what the sources in files lead to

	repositories       repositoryMatcher
	foundSources       []*gitopsSource // the sources as they stand in files
	targetFolders      folderSet       // the folders that they deploy
	enteredFolders     folderSet       // the folders of those that were followed
	lateTargets        folderSet       // folders that they lead to, which their files do not name
	freeFolders        []string        // the folders of what was read though nothing leads to it
	freeFiles          []string        // the files among that
	builtFolders       []string        // the kustomizations among that
	hasSourceTemplates bool            // objects in files make sources of Flux
	readsAnywhere      bool            // kustomizations may name files anywhere, as Argo CD is set up
	queue              []*gitopsSource // still to be followed
	waiting            []*gitopsSource // for ConfigMaps that have not been found yet
	seen               map[string]bool
	reachedPaths       map[string]bool

	followed      []*gitopsSource // in this pass
	topSources    []topSource     // the sources that nothing else deploys
	clusters      []*clusterGroup // of which one is read each
	otherClusters folderSet       // the folders of the others
	otherTargets  folderSet       // the folders that those lead to
	otherFiles    fileSet         // what is deployed when all of them are read

	buildTime  time.Duration // on builds
	buildStuck bool          // a build did not end, and the library cannot run twice
}

// Options say what is read of an input that GitOps tools deploy, and how.
type Options struct {
	Paths       []string // the files and folders of the input
	Namespace   string   // of objects that name none
	Destination string   // the cluster to read; "": all
	Helm        bool     // charts are rendered with the helm program, if there is one
	Sources     []SourceFolder
	Values      Values // of variables that nothing else gives one
	Limits      document.Limits
}

// Render reads the files that were found, and what kustomizations and other objects among them make
// of them.
func Render(ctx context.Context, o Options, in *input.Reader, f *input.Finder) ([]document.Raw, error) {
	charts := helm.NewRenderer(o.Helm)
	r := &renderer{options: o, limits: o.Limits, charts: charts, reader: in,
		otherClusters: folderSet{}, otherFiles: fileSet{}, objectFiles: fileSet{},
		workspace: newWorkspace(kustomize.NewWalk(in, o.Limits, charts), o.Limits)}
	r.resetPass(nil)
	r.workspace.findPathRoots(o.Paths)
	if err := r.mapSources(o.Sources); err != nil {
		return nil, err
	}
	if err := r.workspace.readKustomizations(ctx, f); err != nil {
		return nil, err
	}
	plain, err := r.readUnnamedFiles(ctx, f.Files)
	if err != nil {
		return nil, err
	}
	if err := r.scanUsedFiles(ctx); err != nil {
		return nil, err
	}
	if len(r.workspace.folders)+len(r.workspace.chartsByPath)+len(r.foundSources) == 0 {
		return plain, r.checkDestination()
	}
	r.locateSources(ctx)
	r.findDeployments(f.Files)
	if err := r.renderUntilKnown(ctx, plain, f.Files); err != nil {
		return nil, err
	}
	r.preferDeployed()
	return r.destinations.withoutAside(r.index.documents), r.checkDestination()
}

// resetPass forgets what was rendered. Values that were found late the last time are there from the
// start.
func (r *renderer) resetPass(known *foundValues) {
	r.seen, r.reachedPaths, r.enteredFolders = map[string]bool{}, map[string]bool{}, folderSet{}
	r.queue, r.waiting, r.omissions, r.topSources = nil, nil, omissions{}, nil
	r.lateTargets, r.freeFolders, r.freeFiles, r.builtFolders, r.followed = folderSet{}, nil, nil, nil, nil
	clear(r.reader.Followed)
	r.index = manifestIndex{limits: r.limits, namespace: r.options.Namespace, known: known}
	r.destinations = destinations{chosen: normalizeDestination(r.options.Destination), aside: map[int]bool{}}
	for _, g := range r.clusters {
		if g.isChosen {
			r.destinations.chosen = ""
		}
	}
}

// addLateTargets notes the folders that turned out to be deployed by sources, whose files may be
// patched to lead there. It reports whether something in them was read otherwise too.
func (r *renderer) addLateTargets() bool {
	for dir, withBelow := range r.lateTargets {
		r.targetFolders.addFolder(dir, withBelow)
	}
	return slices.ContainsFunc(r.freeFolders, func(dir string) bool { return dir != "" && r.lateTargets.hasFolder(dir) })
}

// checkDestination returns an error where nothing is deployed to the chosen cluster.
func (r *renderer) checkDestination() error {
	var folders []string
	for _, g := range r.clusters {
		for _, folder := range g.folders {
			folders = append(folders, r.workspace.displayName(folder))
		}
	}
	return r.destinations.checkChosen(folders)
}

// maxPasses is how often an input is rendered to find the values of variables and the clusters.
const maxPasses = 6

// renderUntilKnown renders everything, again if values were asked for before what holds them was
// deployed: in a cluster, too, it is deployed once more as soon as they are there.
func (r *renderer) renderUntilKnown(ctx context.Context, plain []document.Raw, files []input.File) error {
	problems, omissions, remaining := len(r.reader.Problems), len(r.reader.Omissions), r.reader.Remaining
	for pass := 1; ; pass++ {
		if err := r.renderAll(ctx, plain); err != nil {
			return err
		}
		late, clusters := r.index.findLate(), r.findClusters()
		moved := r.addLateTargets()
		if late == nil && clusters == nil && !moved || pass == maxPasses || r.buildStuck {
			r.addOmissionProblems(files)
			return nil
		}
		if clusters != nil {
			r.leaveOutClusters(clusters)
		}
		r.reader.Problems, r.reader.Omissions = r.reader.Problems[:problems], r.reader.Omissions[:omissions]
		r.reader.Remaining = remaining
		r.resetPass(late)
	}
}

// readUnnamedFiles returns the documents of the files that no kustomization names. Those beside
// files that one names are not deployed, and only looked at for what they would lead to.
func (r *renderer) readUnnamedFiles(ctx context.Context, sources []input.File) ([]document.Raw, error) {
	var out []document.Raw
	for _, s := range sources {
		if r.workspace.usedFiles[s.RealPath] {
			continue
		}
		before := r.reader.Remaining
		more, err := r.reader.ReadFiles(ctx, []input.File{s})
		if err != nil {
			return nil, err
		}
		for i := range more {
			r.noteObjects(s.RealPath, more[i].Text)
			more[i].RealPath, more[i].Text = s.RealPath, r.options.Values.Fill(more[i].Text)
			r.foundSources = append(r.foundSources, r.findSources(more[i])...)
		}
		if s.RealPath != "" && r.workspace.usedFolders[filepath.Dir(s.RealPath)] {
			r.unusedFiles = append(r.unusedFiles, s.RealPath)
			r.reader.Remaining = before
			continue
		}
		out = append(out, more...)
	}
	return out, nil
}

// renderAll reads what is not read through anything else, and follows what that leads to.
func (r *renderer) renderAll(ctx context.Context, plain []document.Raw) error {
	var free []document.Raw
	for _, p := range plain {
		if p.RealPath == "" || !r.targetFolders.hasFolder(filepath.Dir(p.RealPath)) &&
			!r.isOfOtherCluster(p.RealPath) && !r.deployments.isLeftOut(p.RealPath) {
			free = append(free, p)
			r.freeFolders = append(r.freeFolders, filepath.Dir(p.RealPath))
			r.freeFiles = append(r.freeFiles, p.RealPath)
		}
	}
	r.noteTopSources(r.addDocuments(free, nil), "")
	for _, f := range r.rootKustomizations() {
		r.freeFolders = append(r.freeFolders, f.kustomization.Dir.String())
		r.builtFolders = append(r.builtFolders, f.kustomization.Dir.String())
		if err := r.buildAndAdd(ctx, buildRequest{dir: f.kustomization.Dir, name: f.kustomization.Name}); err != nil {
			return err
		}
	}
	if err := r.followSources(ctx); err != nil {
		return err
	}
	if err := r.buildCircularKustomizations(ctx); err != nil {
		return err
	}
	return r.renderUnreachedCharts(ctx)
}

// addDocuments adds documents to what is read, and has followed what they lead to, which it
// returns. They come from a source, or from nil.
func (r *renderer) addDocuments(pieces []document.Raw, by *gitopsSource) []*gitopsSource {
	var found []*gitopsSource
	aside := r.destinations.isElsewhere(by)
	for i, p := range pieces {
		if by == nil {
			r.index.free = append(r.index.free, len(r.index.documents)+i)
		}
		if aside {
			r.destinations.aside[len(r.index.documents)+i] = true
		}
		for _, l := range r.findSources(p) {
			if by != nil && by.kind != helmRelease {
				l.cluster = by.destinationCluster()
			}
			if by != nil {
				l.topFolder = by.topFolder
			}
			found = append(found, l)
			if key := l.identityKey(); !r.seen[key] {
				r.seen[key] = true
				r.queue = append(r.queue, l)
			}
		}
	}
	if by != nil && !aside {
		r.destinations.deployed = append(r.destinations.deployed, deployedRange{by, len(r.index.documents),
			len(r.index.documents) + len(pieces)})
	}
	r.index.documents = append(r.index.documents, pieces...)
	return found
}

// followSources follows sources until there are none that can be reached.
func (r *renderer) followSources(ctx context.Context) error {
	for {
		for len(r.queue) > 0 {
			l := r.queue[0]
			r.queue = r.queue[1:]
			if !r.index.hasConfigMaps(l) {
				r.waiting = append(r.waiting, l)
				continue
			}
			if !l.deferred && r.index.isSecretMissing(l) {
				l.deferred = true
				r.queue = append(r.queue, l)
				continue
			}
			if err := r.followSource(ctx, l); err != nil {
				return err
			}
		}
		r.queue = slices.DeleteFunc(slices.Clone(r.waiting),
			func(l *gitopsSource) bool { return !r.index.hasConfigMaps(l) })
		if len(r.queue) > 0 {
			r.waiting = slices.DeleteFunc(r.waiting, r.index.hasConfigMaps)
			continue
		}
		switch next := r.findBootstrap(); {
		case next != nil:
			r.queue = append(r.queue, next)
		case len(r.waiting) > 0: // what they wait for does not come
			l := r.waiting[0]
			r.waiting = r.waiting[1:]
			if err := r.followSource(ctx, l); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// followSource reads what a source deploys.
func (r *renderer) followSource(ctx context.Context, l *gitopsSource) error {
	r.reader.Followed[l.toFollower()] = true
	r.followed = append(r.followed, l)
	repositories := l.sourceRepositories()
	for i, path := range l.sourcePaths() {
		r.reachedPaths[l.kind+" "+path] = true
		if dir, _, ok := r.locateInRepository(repositories[i], path); ok && l.kind != helmRelease {
			withBelow := r.readsBelow(l, i, dir)
			r.enteredFolders.addFolder(dir.String(), withBelow)
			if r.repositories.isLocal(repositories[i]) && !r.targetFolders.hasFolder(dir.String()) {
				r.lateTargets.addFolder(dir.String(), withBelow)
			}
		}
	}
	if r.destinations.isSkipped(l) {
		return nil
	}
	switch l.kind {
	case fluxKustomization:
		return r.renderFluxKustomization(ctx, l)
	case argoApplication:
		return r.renderApplication(ctx, l)
	case helmRelease:
		return r.renderHelmRelease(ctx, l)
	case resourceSet:
		r.omissions.addOmitted(l, "its templates are not filled in", resourceSetHint)
		return nil
	}
	made, why := newAppSetGenerator(&r.workspace, &r.repositories, l).makeApplications(ctx, l)
	for _, app := range made {
		app.topFolder = l.topFolder
		if key := app.identityKey(); !r.seen[key] {
			r.seen[key] = true
			r.queue = append(r.queue, app)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case why != nil && len(made) > 0:
		r.omissions.addPartlyOmitted(l, why.Error(), applicationSetHint)
	case why != nil:
		r.omissions.addOmitted(l, why.Error(), applicationSetHint)
	}
	return nil
}
