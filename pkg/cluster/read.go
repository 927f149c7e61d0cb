package cluster

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Options say what to read of a cluster.
type Options struct {
	Context string            // the name by which answers call the cluster
	ReadAt  time.Time         // when it is read
	Kinds   []model.GroupKind // what is read where it is served

	// DependentKinds are kinds that are read only if there are objects of another one, by that.
	DependentKinds map[model.GroupKind][]model.GroupKind

	// SideKinds are kinds on which answers about policies do not depend: that they may not be listed
	// is a note. A cluster without the Gateway API is read if it has objects of one of them that others
	// depend on.
	SideKinds []model.GroupKind

	// Bare lets a cluster without the Gateway API be read.
	WithoutGatewayAPI bool

	// NothingAllowed lets the reading go on where nothing may be listed, to say what is forbidden.
	NothingAllowed bool

	// Policies tells the CustomResourceDefinitions of policy kinds from others. The objects of such
	// kinds are read as well, and the definitions. If it is nil, no definition is read for their
	// sake.
	IsPolicyKind func(definition *model.Object) bool

	// Schemas asks for the definitions of all policy kinds, also of those that are in Kinds.
	AllDefinitions bool

	// Undecided are kinds whose definitions say how their objects are read. If one of them is
	// served, the definitions are read.
	UndecidedKinds []model.GroupKind

	// Home are the namespaces that the question is about. Where the objects of all namespaces may
	// not be listed, those of these namespaces, and of all that are named by objects there, may be.
	Namespaces []string

	// Reports are kinds of objects that tell of what may not be read: they are looked for only if
	// something may not be.
	Reports *ReportQuery

	PageSize int // objects a list is asked for at a time; 0: all at once
	Limits   document.Limits

	Progress *Progress
	Cache    *Cache // of lists that are not read again; nil: all are read

	Overlay load.Options // manifests that take the place of what the cluster has, as if they were applied
}

// Progress is how far reading has come, to be looked at from elsewhere.
type Progress struct{ Lists, Done, Objects atomic.Int64 }

// maxParallelLists bounds the requests that are under way at once.
const maxParallelLists = 16

const (
	secretKind    = "Secret"
	namespaceKind = "Namespace"
	gatewayGroup  = gatewayv1.GroupName
)

// Read reads a cluster into a snapshot: a list of every kind that matters and is served, page by
// page, all kinds in parallel, and no request for a single object but where lists are forbidden.
// What the user may not list is missing from the snapshot, and said so by its Cluster and by a
// Forbidden problem. Secrets are never read. There is an *Error if no answer is possible: no
// server, no valid credentials, no Gateway API, or a list that fails for other reasons than
// permissions; a part of a list never passes for the whole.
func Read(ctx context.Context, server *Server, o Options) (*model.Snapshot, error) {
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	r := &reader{server: server, options: o, limits: o.Limits.WithDefaults(), slots: make(chan struct{},
		maxParallelLists), refusals: map[model.GroupKind]*refusedKind{},
		listed: map[model.GroupKind]bool{}, targetsOnly: map[model.GroupKind]bool{}}
	if err := r.readAll(ctx); err != nil {
		return nil, explainFailure(ctx, o.Context, err)
	}
	cluster := &model.Cluster{Context: o.Context, ReadAt: o.ReadAt, Kinds: r.served, Unread: r.unreadObjects()}
	return load.AssembleCluster(ctx, o.Overlay, cluster, r.results, r.readingProblems())
}

// reader is one reading of a cluster.
type reader struct {
	server  *Server
	options Options
	limits  document.Limits
	slots   chan struct{}

	listed        map[model.GroupKind]bool // kinds that were listed
	targetsOnly   map[model.GroupKind]bool // kinds of which no more is kept than targets need
	served        []model.ServedKind
	results       []document.Result
	otherProblems []model.Problem // beside those of objects and of refused lists
	refusals      map[model.GroupKind]*refusedKind
}

func (r *reader) readAll(ctx context.Context) error {
	var err error
	if r.served, err = r.server.discoverKinds(ctx); r.served == nil && err != nil {
		return err
	}
	if err := r.checkFailedGroups(err); err != nil {
		return err
	}
	serves, mayServe := r.findGatewayAPI()
	if !serves && !mayServe {
		return errNoGatewayAPI
	}
	var first []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; slices.Contains(r.options.Kinds, k.GroupKind) && !isSecretKind(k.GroupKind) {
			first = append(first, k)
		}
	}
	if err := r.readEverywhere(ctx, append(r.newListJobs(first), r.definitionJobs()...)); err != nil {
		return err
	}
	dependent := r.dependentKinds()
	if !serves && len(dependent) == 0 {
		return errNoGatewayAPI
	}
	if err := r.readEverywhere(ctx, r.newListJobs(dependent)); err != nil {
		return err
	}
	for {
		if err := r.followKinds(ctx); err != nil {
			return err
		}
		before := len(r.results)
		if err := r.readSingleNamespaces(ctx); err != nil {
			return err
		}
		if len(r.results) == before {
			break
		}
	}
	if len(r.refusals) > 0 && len(r.results) == 0 && !r.options.NothingAllowed {
		return errNothingAllowed
	}
	return r.readReports(ctx)
}

// findGatewayAPI reports whether the cluster serves what answers are about, and whether it may have objects
// that take its place.
func (r *reader) findGatewayAPI() (serves, mayServe bool) {
	serves = r.options.WithoutGatewayAPI
	for i := range r.served {
		switch gk := r.served[i].GroupKind; {
		case gk.Group == gatewayGroup:
			serves = true
		case r.options.DependentKinds[gk] == nil:
		case slices.Contains(r.options.SideKinds, gk):
			mayServe = true
		default:
			serves = true
		}
	}
	return serves, mayServe
}

// checkFailedGroups notes the groups that the server names and does not serve now. It is an error
// if kinds are wanted of one of them, or the kinds that every server has are not there: what is not
// read would be treated as absent.
func (r *reader) checkFailedGroups(failure error) error {
	core := func(k model.ServedKind) bool { return k.Group == "" && k.Kind == namespaceKind }
	if !slices.ContainsFunc(r.served, core) {
		return errors.Join(errors.New("the server does not say that it serves Namespaces"), failure)
	}
	var failed failedGroups
	if !errors.As(failure, &failed) {
		return failure
	}
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "some groups of the API are not served now, their kinds are treated as absent: " + failure.Error()}
	for version := range failed {
		if slices.ContainsFunc(r.options.Kinds, func(gk model.GroupKind) bool { return gk.Group == version.Group }) {
			return failure
		}
		if r.isUnknownKind(model.ServedKind{GroupKind: model.GroupKind{Group: version.Group}}) {
			p.Severity = model.Warning
		}
	}
	r.otherProblems = append(r.otherProblems, p)
	return nil
}

func isSecretKind(gk model.GroupKind) bool { return gk.Group == "" && gk.Kind == secretKind }

// followKinds lists what the objects that were read point at: policy kinds that are defined, and
// kinds that policies target, until there is nothing new.
func (r *reader) followKinds(ctx context.Context) error {
	for {
		policies, targets := r.findReferencedKinds()
		if len(policies)+len(targets) == 0 {
			return nil
		}
		if err := r.readEverywhere(ctx, r.newListJobs(policies)); err != nil {
			return err
		}
		if err := r.readEverywhere(ctx, r.newListJobs(targets)); err != nil {
			return err
		}
	}
}

// newListJobs returns the lists of the objects of kinds in all namespaces.
func (r *reader) newListJobs(kinds []*model.ServedKind) []listJob {
	jobs := make([]listJob, 0, len(kinds))
	for _, k := range kinds {
		r.listed[k.GroupKind] = true
		jobs = append(jobs, listJob{kind: k})
	}
	return jobs
}

// readEverywhere reads lists of all namespaces.
func (r *reader) readEverywhere(ctx context.Context, jobs []listJob) error {
	return r.readLists(ctx, jobs, func(j listJob) { r.addRefusal(j.kind, "") })
}
