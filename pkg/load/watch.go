package load

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Cache keeps lists from one reading of a cluster to the next, as long as they are not forgotten. The zero value is empty.
type Cache struct{ lists map[listName]outcome }

// listName names a list: the objects of a kind, in one namespace or all, or one object.
type listName struct {
	kind            model.GroupKind
	version, plural string
	namespace, name string
}

func (j job) id() listName {
	return listName{j.kind.GroupKind, j.kind.Version, j.kind.Plural, j.namespace, j.name}
}

// Forget has the lists of the kinds read anew the next time.
func (c *Cache) Forget(kinds []model.GroupKind) {
	maps.DeleteFunc(c.lists, func(l listName, _ outcome) bool { return slices.Contains(kinds, l.kind) })
}

// take is what is kept of a list; a nil cache keeps nothing.
func (c *Cache) take(j job) (outcome, bool) {
	if c == nil || j.labels != "" {
		return outcome{}, false
	}
	read, ok := c.lists[j.id()]
	return read, ok
}

func (c *Cache) put(j job, read outcome) {
	if c == nil || j.name != "" || j.labels != "" { // single objects and parts of lists are not watched
		return
	}
	if c.lists == nil {
		c.lists = map[listName]outcome{}
	}
	c.lists[j.id()] = read
}

// Watcher tells which lists of a cluster change. It watches metadata only.
type Watcher struct {
	client metadata.Interface
	report func(what, hint string)

	following map[listName]bool
	mu        sync.Mutex
	refused   map[model.GroupKind]bool
	told      time.Time // when it was told last that watching fails
	changed   map[model.GroupKind]bool
	wake      chan struct{}
}

// NewWatcher watches the server that a kubeconfig's entry describes. What cannot be watched is told to report, which is called one at a time.
func NewWatcher(config *rest.Config, report func(what, hint string)) (*Watcher, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Watcher{client: client, report: report, following: map[listName]bool{}, refused: map[model.GroupKind]bool{}, changed: map[model.GroupKind]bool{}, wake: make(chan struct{}, 1)}, nil
}

// Follow begins to watch the lists in the cache that are not watched yet, until ctx ends. They count as changed at once, because
// what happened between reading and watching is not known.
func (w *Watcher) Follow(ctx context.Context, c *Cache) {
	for l := range c.lists {
		if w.following[l] {
			continue
		}
		w.following[l] = true
		w.follow(ctx, l)
	}
}

func (w *Watcher) follow(ctx context.Context, l listName) {
	gvr := schema.GroupVersionResource{Group: l.kind.Group, Version: l.version, Resource: l.plural}
	lists := w.client.Resource(gvr).Namespace(l.namespace)
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return lists.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return lists.Watch(ctx, o) },
	}, w.client), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	change := func() { w.mark(l.kind) }
	// Only to tell what is old from what is new: neither can fail on an informer that does not run yet.
	_ = informer.SetTransform(func(o any) (any, error) { return bareMetadata(o), nil })
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { w.failed(l, err) })
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, inInitialList bool) {
			if !inInitialList {
				change()
			}
		},
		UpdateFunc: func(before, now any) {
			if version(before) != version(now) {
				change()
			}
		},
		DeleteFunc: func(any) { change() },
	})
	if err != nil {
		w.failed(l, err)
		return
	}
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
			change()
		}
	}()
}

// bareMetadata is an object's metadata less what telling changes does not take.
func bareMetadata(o any) any {
	if m, ok := o.(*metav1.PartialObjectMetadata); ok {
		m.ObjectMeta = metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, ResourceVersion: m.ResourceVersion}
	}
	return o
}

func version(o any) string {
	m, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return ""
	}
	return m.ResourceVersion
}

func (w *Watcher) mark(kind model.GroupKind) {
	w.mu.Lock()
	w.changed[kind] = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// failed sees to a watch that does not work. A list that may not be watched is read anew with every change of another one.
func (w *Watcher) failed(l listName, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case apierrors.IsForbidden(err):
		if !w.refused[l.kind] {
			w.refused[l.kind] = true
			w.report(l.plural+" are not watched: "+err.Error(), "ask for: watch on "+l.plural+" (docs/rbac.yaml)")
		}
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), errors.Is(err, io.EOF):
	case time.Since(w.told) > tellAgain:
		w.told = time.Now()
		w.report("the cluster cannot be watched, the last answer may be out of date: "+err.Error(), "")
	}
}

// tellAgain is how often it is told that a cluster cannot be watched.
const tellAgain = 30 * time.Second

// Next waits until something has changed and nothing more does for a moment, and returns the kinds. Changes that do not stop are returned after
// ten such moments. When again fires, the kinds may be none. It reports false when ctx ends.
func (w *Watcher) Next(ctx context.Context, moment time.Duration, again <-chan time.Time) (kinds []model.GroupKind, ok bool) {
	for len(kinds) == 0 {
		select {
		case <-ctx.Done():
			return nil, false
		case <-again:
			return w.take(), true
		case <-w.wake:
		}
		w.awaitQuiet(ctx, moment)
		kinds = w.take()
	}
	return kinds, ctx.Err() == nil
}

// awaitQuiet waits until nothing changes for a moment.
func (w *Watcher) awaitQuiet(ctx context.Context, moment time.Duration) {
	for last := time.After(10 * moment); ; {
		select {
		case <-w.wake:
			continue
		case <-ctx.Done():
		case <-last:
		case <-time.After(moment):
		}
		return
	}
}

// take is what has changed since it was asked last, with what is not watched.
func (w *Watcher) take() []model.GroupKind {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changed) == 0 {
		return nil
	}
	maps.Copy(w.changed, w.refused)
	kinds := slices.SortedFunc(maps.Keys(w.changed), model.GroupKind.Compare)
	clear(w.changed)
	return kinds
}
