package cluster

import (
	"maps"
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Cache keeps lists from one reading of a cluster to the next, and takes in what a Watcher sees of
// them change. The zero value is empty.
type Cache struct {
	mu         sync.Mutex
	lists      map[listKey]*cachedList
	readBefore map[listKey]bool // lists that were read once
}

// listKey names a list: the objects of a kind, in one namespace or all.
type listKey struct {
	kind            model.GroupKind
	version, plural string
	namespace       string
	targetsOnly     bool // no more is kept of them than targets need
}

func (j listJob) listKey() listKey {
	return listKey{j.kind.GroupKind, j.kind.Version, j.kind.Plural, j.namespace, j.targetsOnly}
}

// cachedList is a list as it was read, and what became of single objects since.
type cachedList struct {
	job     listJob
	cluster string // the context
	limits  document.Limits
	result  document.Result
	changes map[model.Ref]document.Result // an empty result for those that are gone
}

// findList returns what is kept of a list; a nil cache keeps nothing.
func (c *Cache) findList(j listJob) (document.Result, bool) {
	if c == nil || j.name != "" || j.isPartial() {
		return document.Result{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.lists[j.listKey()]
	if k == nil {
		return document.Result{}, false
	}
	k.applyChanges()
	return k.result, true
}

func (c *Cache) storeList(j listJob, read document.Result, r *reader) {
	if c == nil || j.name != "" || j.isPartial() { // single objects and parts of lists are not watched
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists, c.readBefore = map[listKey]*cachedList{}, map[listKey]bool{}
	}
	c.readBefore[j.listKey()] = true
	c.lists[j.listKey()] = &cachedList{job: j, cluster: r.options.Context, limits: r.limits, result: read}
}

// isFirstReading reports whether a list is read for the first time, to be watched then. What the
// server's cache has will do: what it lacks comes with the watch. A list that is read again is not
// to be older than before.
func (c *Cache) isFirstReading(j listJob) bool {
	if c == nil || j.name != "" || j.isPartial() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.readBefore[j.listKey()]
}

// forgetLists has those lists read anew that which selects.
func (c *Cache) forgetLists(which func(listKey) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.lists, func(l listKey, _ *cachedList) bool { return which(l) })
}

// listKeys returns the lists that are kept.
func (c *Cache) listKeys() []listKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.lists))
}

// listVersion returns the version of the cluster at which a list is kept; not ok: it is not kept.
func (c *Cache) listVersion(l listKey) (version string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.lists[l]
	if k == nil {
		return "", false
	}
	return k.result.ResourceVersion, true
}

// applyChange takes in an object as it is now, or that it is gone. It reports whether that can
// matter.
func (c *Cache) applyChange(l listKey, object *document.ServerObject, gone bool) (matters bool) {
	c.mu.Lock()
	k := c.lists[l]
	c.mu.Unlock()
	if k == nil {
		return false
	}
	var now document.Result
	if !gone {
		now = k.readObject(object)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.changes == nil {
		k.changes = map[model.Ref]document.Result{}
	}
	k.changes[object.Ref] = now
	k.result.ResourceVersion = object.ResourceVersion
	return true
}

// advanceVersion notes that a list has not changed up to a version.
func (c *Cache) advanceVersion(l listKey, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.lists[l]; k != nil {
		k.result.ResourceVersion = version
	}
}

// readObject returns what an object of the list comes to, as if the list had it alone.
func (k *cachedList) readObject(object *document.ServerObject) document.Result {
	l := document.NewListReader(k.job.readerOptions(k.cluster, k.limits, nil))
	l.AddObject(object)
	return l.Finish()
}

// applyChanges makes one of the list and what has changed since. What was taken before stays as it
// is.
func (k *cachedList) applyChanges() {
	if len(k.changes) == 0 {
		return
	}
	next := document.Result{ResourceVersion: k.result.ResourceVersion, NotKubernetes: k.result.NotKubernetes}
	for _, o := range k.result.Objects {
		if _, changed := k.changes[o.Ref]; !changed {
			next.Objects = append(next.Objects, o)
		}
	}
	for _, f := range k.result.Problems {
		if f.Object != nil {
			if _, changed := k.changes[f.Object.Ref]; changed {
				continue
			}
		}
		next.Problems = append(next.Problems, f)
	}
	for _, ref := range slices.SortedFunc(maps.Keys(k.changes), model.Ref.Compare) {
		next.Objects = append(next.Objects, k.changes[ref].Objects...)
		next.Problems = append(next.Problems, k.changes[ref].Problems...)
	}
	next.Readable = len(next.Objects)
	k.result, k.changes = next, nil
}
