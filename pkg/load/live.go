package load

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// LiveOptions say what to read of a cluster.
type LiveOptions struct {
	Context string            // the name by which answers call the cluster
	At      time.Time         // when it is read
	Kinds   []model.GroupKind // what is read where it is served

	// After are kinds that are read only if there are objects of another one, by that.
	After map[model.GroupKind][]model.GroupKind

	// Bare lets a cluster without the Gateway API be read.
	Bare bool

	// Policies tells the CustomResourceDefinitions of policy kinds from others. The objects of such kinds are read as well, and
	// the definitions. If it is nil, no definition is read for their sake.
	Policies func(definition *model.Object) bool

	// Schemas asks for the definitions of all policy kinds, also of those that are in Kinds.
	Schemas bool

	// Undecided are kinds whose definitions say how their objects are read. If one of them is served, the definitions are read.
	Undecided []model.GroupKind

	// Home are the namespaces that the question is about. Where the objects of all namespaces may not be listed, those of these
	// namespaces, and of all that are named by objects there, may be.
	Home []string

	// Reports are kinds of objects that tell of what may not be read: they are looked for only if something may not be.
	Reports *Reports

	Chunk  int // objects a list is asked for at a time; 0: all at once
	Limits Limits

	Progress *Progress
	Cache    *Cache // of lists that are not read again; nil: all are read

	Over Options // manifests that take the place of what the cluster has, as if they were applied
}

// Progress is how far reading has come, to be looked at from elsewhere.
type Progress struct{ Lists, Done, Objects atomic.Int64 }

// listsAtATime bounds the requests that are under way at once.
const listsAtATime = 16

const (
	secretKind    = "Secret"
	namespaceKind = "Namespace"
	gatewayGroup  = gatewayv1.GroupName
)

// Live reads a cluster into a snapshot: a list of every kind that matters and is served, page by page, all kinds side by side, and no
// request for a single object but where lists are forbidden. What the user may not list is a gap of the snapshot's Cluster and a Forbidden
// problem. Secrets are never read. There is an *Error if no answer is possible: no server, no valid credentials, no Gateway API, or a list
// that fails for other reasons than permissions; a part of a list never passes for the whole.
func Live(ctx context.Context, server *Server, o LiveOptions) (*model.Snapshot, error) {
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	r := &liveReader{server: server, o: o, limits: o.Limits.orDefault(), seats: make(chan struct{}, listsAtATime), forbidden: map[model.GroupKind]*refusal{},
		asked: map[model.GroupKind]bool{}, bones: map[model.GroupKind]bool{}}
	if err := r.run(ctx); err != nil {
		return nil, liveError(ctx, o.Context, err)
	}
	outcomes, problems := r.outcomes, r.problems()
	if len(o.Over.Paths) > 0 || o.Over.Kustomization != "" {
		over, err := o.Over.readOver(ctx, "a cluster", "drop --live to ask the snapshot")
		if err != nil {
			return nil, err
		}
		outcomes, problems = append(outcomes, over.outcomes...), append(problems, over.problems...)
	}
	return assemble(o.Over, &model.Cluster{Context: o.Context, ReadAt: o.At, Kinds: r.served, Gaps: r.gaps()}, outcomes, problems), nil
}

// liveReader is one reading of a cluster.
type liveReader struct {
	server *Server
	o      LiveOptions
	limits Limits
	seats  chan struct{}

	asked     map[model.GroupKind]bool // kinds that were listed
	bones     map[model.GroupKind]bool // kinds of which no more is kept than targets need
	served    []model.ServedKind
	outcomes  []outcome
	failed    []model.Problem // beside those of objects and of refused lists
	forbidden map[model.GroupKind]*refusal
}

func (r *liveReader) run(ctx context.Context) error {
	var err error
	if r.served, err = r.server.kinds(ctx); r.served == nil && err != nil {
		return err
	}
	if err := r.missing(err); err != nil {
		return err
	}
	if !r.o.Bare && !slices.ContainsFunc(r.served, func(k model.ServedKind) bool { return k.Group == gatewayGroup || r.o.After[k.GroupKind] != nil }) {
		return errNoGatewayAPI
	}
	var first []*model.ServedKind
	for i := range r.served {
		if k := &r.served[i]; slices.Contains(r.o.Kinds, k.GroupKind) && !isSecretKind(k.GroupKind) {
			first = append(first, k)
		}
	}
	if err := r.everywhere(ctx, append(r.lists(first), r.definitions()...)); err != nil {
		return err
	}
	if err := r.everywhere(ctx, r.lists(r.after())); err != nil {
		return err
	}
	for {
		if err := r.follow(ctx); err != nil {
			return err
		}
		before := len(r.outcomes)
		if err := r.nearby(ctx); err != nil {
			return err
		}
		if len(r.outcomes) == before {
			break
		}
	}
	if len(r.forbidden) > 0 && len(r.outcomes) == 0 {
		return errNothingAllowed
	}
	return r.reports(ctx)
}

// missing notes the groups that the server names and does not serve now. It is an error if kinds are wanted of one of them, or the kinds that
// every server has are not there: what is not read would be taken for absent.
func (r *liveReader) missing(failure error) error {
	core := func(k model.ServedKind) bool { return k.Group == "" && k.Kind == namespaceKind }
	if !slices.ContainsFunc(r.served, core) {
		return errors.Join(errors.New("the server does not say that it serves Namespaces"), failure)
	}
	var failed failedGroups
	if !errors.As(failure, &failed) {
		return failure
	}
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "some groups of the API are not served now, their kinds are taken for absent: " + failure.Error()}
	for version := range failed {
		if slices.ContainsFunc(r.o.Kinds, func(gk model.GroupKind) bool { return gk.Group == version.Group }) {
			return failure
		}
		if r.unexplained(model.ServedKind{GroupKind: model.GroupKind{Group: version.Group}}) {
			p.Severity = model.Warning
		}
	}
	r.failed = append(r.failed, p)
	return nil
}

func isSecretKind(gk model.GroupKind) bool { return gk.Group == "" && gk.Kind == secretKind }

// follow lists what the objects that were read point at: policy kinds that are defined, and kinds that policies target, until there is
// nothing new.
func (r *liveReader) follow(ctx context.Context) error {
	for {
		policies, targets := r.discovered()
		if len(policies)+len(targets) == 0 {
			return nil
		}
		if err := r.everywhere(ctx, r.lists(policies)); err != nil {
			return err
		}
		if err := r.everywhere(ctx, r.lists(targets)); err != nil {
			return err
		}
	}
}

// lists are those of the objects of kinds in all namespaces.
func (r *liveReader) lists(kinds []*model.ServedKind) []job {
	jobs := make([]job, 0, len(kinds))
	for _, k := range kinds {
		r.asked[k.GroupKind] = true
		jobs = append(jobs, job{kind: k})
	}
	return jobs
}

// everywhere reads lists of all namespaces.
func (r *liveReader) everywhere(ctx context.Context, jobs []job) error {
	return r.all(ctx, jobs, func(j job) { r.refuse(j.kind, "") })
}
