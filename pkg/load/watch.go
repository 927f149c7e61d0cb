package load

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Cache keeps lists from one reading of a cluster to the next, as long as they are not forgotten. The zero value is empty.
type Cache struct{ lists map[listName]keptList }

// listName names a list: the objects of a kind, in one namespace or all, or one object.
type listName struct {
	kind            model.GroupKind
	version, plural string
	namespace, name string
}

// keptList is what was read of a list.
type keptList struct {
	out  outcome
	size int64
}

func (j job) id() listName {
	return listName{j.kind.GroupKind, j.kind.Version, j.kind.Plural, j.namespace, j.name}
}

// Forget has the lists of the kinds read anew the next time.
func (c *Cache) Forget(kinds []model.GroupKind) {
	maps.DeleteFunc(c.lists, func(l listName, _ keptList) bool { return slices.Contains(kinds, l.kind) })
}

// take is what is kept of a list; a nil cache keeps nothing.
func (c *Cache) take(j job) (keptList, bool) {
	if c == nil {
		return keptList{}, false
	}
	k, ok := c.lists[j.id()]
	return k, ok
}

func (c *Cache) put(j job, k keptList) {
	if c == nil {
		return
	}
	if c.lists == nil {
		c.lists = map[listName]keptList{}
	}
	c.lists[j.id()] = k
}

// Watcher tells which lists of a cluster change. It watches metadata only.
type Watcher struct {
	client metadata.Interface
	report func(kind string, err error)

	following map[listName]bool
	mu        sync.Mutex
	changed   map[model.GroupKind]bool
	wake      chan struct{}
}

// NewWatcher watches the server that a kubeconfig's entry describes. A list that cannot be watched is told to report, once.
func NewWatcher(config *rest.Config, report func(kind string, err error)) (*Watcher, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Watcher{client: client, report: report, following: map[listName]bool{}, changed: map[model.GroupKind]bool{}, wake: make(chan struct{}, 1)}, nil
}

// Follow begins to watch the lists in the cache that are not watched yet, until ctx ends. They count as changed at once, because
// what happened between reading and watching is not known.
func (w *Watcher) Follow(ctx context.Context, c *Cache) {
	for l := range c.lists {
		if w.following[l] || l.name != "" {
			continue
		}
		w.following[l] = true
		w.follow(ctx, l)
	}
}

func (w *Watcher) follow(ctx context.Context, l listName) {
	gvr := schema.GroupVersionResource{Group: l.kind.Group, Version: l.version, Resource: l.plural}
	informer := metadatainformer.NewFilteredMetadataInformer(w.client, gvr, l.namespace, 0, cache.Indexers{}, nil).Informer()
	change := func() { w.mark(l.kind) }
	// Only to tell what is old from what is new: neither can fail on an informer that does not run yet.
	_ = informer.SetTransform(func(o any) (any, error) { return bareMetadata(o), nil })
	var once sync.Once
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
			once.Do(func() { w.report(l.plural, err) })
		}
	})
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
		w.report(l.plural, err)
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

// Next waits until something has changed and nothing more does for a moment, and returns the kinds; nil when ctx ends. Changes that do not
// stop are returned after ten such moments.
func (w *Watcher) Next(ctx context.Context, moment time.Duration) []model.GroupKind {
	select {
	case <-ctx.Done():
		return nil
	case <-w.wake:
	}
	for last := time.After(10 * moment); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
			continue
		case <-last:
		case <-time.After(moment):
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		kinds := slices.SortedFunc(maps.Keys(w.changed), model.GroupKind.Compare)
		clear(w.changed)
		return kinds
	}
}
