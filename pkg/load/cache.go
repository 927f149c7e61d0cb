package load

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Cache keeps lists from one reading of a cluster to the next, and takes in what a Watcher sees of them change. The zero value is empty.
type Cache struct {
	mu    sync.Mutex
	lists map[listName]*keptList
	known map[listName]bool // lists that were read once
}

// listName names a list: the objects of a kind, in one namespace or all.
type listName struct {
	kind            model.GroupKind
	version, plural string
	namespace       string
	targets         bool // no more is kept of them than targets need
}

func (j job) id() listName {
	return listName{j.kind.GroupKind, j.kind.Version, j.kind.Plural, j.namespace, j.targets}
}

// keptList is a list as it was read, and what became of single objects since.
type keptList struct {
	job     job
	from    string // the context
	limits  Limits
	out     outcome
	changes map[model.Ref]outcome // nothing for those that are gone
}

// take is what is kept of a list; a nil cache keeps nothing.
func (c *Cache) take(j job) (outcome, bool) {
	if c == nil || j.name != "" || j.part() {
		return outcome{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.lists[j.id()]
	if k == nil {
		return outcome{}, false
	}
	k.settle()
	return k.out, true
}

func (c *Cache) put(j job, read outcome, r *liveReader) {
	if c == nil || j.name != "" || j.part() { // single objects and parts of lists are not watched
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists, c.known = map[listName]*keptList{}, map[listName]bool{}
	}
	c.known[j.id()] = true
	c.lists[j.id()] = &keptList{job: j, from: r.o.Context, limits: r.limits, out: read}
}

// first reports whether a list is read for the first time, to be watched then. What the server's cache has will do: what it lacks comes with the
// watch. A list that is read again is not to be older than before.
func (c *Cache) first(j job) bool {
	if c == nil || j.name != "" || j.part() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.known[j.id()]
}

// forget has the lists read anew of which that is said.
func (c *Cache) forget(which func(listName) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.lists, func(l listName, _ *keptList) bool { return which(l) })
}

// names are the lists that are kept.
func (c *Cache) names() []listName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.lists))
}

// version is the version of the cluster at which a list is kept; not ok: it is not kept.
func (c *Cache) version(l listName) (version string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.lists[l]
	if k == nil {
		return "", false
	}
	return k.out.version, true
}

// errUnreadable is the error of an object that is none.
var errUnreadable = errors.New("what has changed cannot be read")

// change takes in an object as it is now, or that it is gone. It reports whether that can matter.
func (c *Cache) change(l listName, object *tree, gone bool) (matters bool, err error) {
	as, failed := identify(object)
	if failed != nil {
		return false, errUnreadable
	}
	c.mu.Lock()
	k := c.lists[l]
	c.mu.Unlock()
	if k == nil {
		return false, nil
	}
	var now outcome
	if !gone {
		now = k.read(object)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.changes == nil {
		k.changes = map[model.Ref]outcome{}
	}
	k.changes[as.Ref] = now
	k.out.version = asMap(object.at("metadata")).text("resourceVersion")
	return true, nil
}

// advance notes that a list has not changed up to a version.
func (c *Cache) advance(l listName, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.lists[l]; k != nil {
		k.out.version = version
	}
}

// read is what an object of the list comes to, as if the list had it alone.
func (k *keptList) read(object *tree) outcome {
	l := newListing(&liveReader{o: LiveOptions{Context: k.from, Progress: &Progress{}}, limits: k.limits}, k.job)
	l.take(&document{from: k.from, press: l.press.begin(noLines), out: &l.out}, object)
	l.press.deliver()
	return l.out
}

// settle makes one of the list and what has changed since. What was taken before stays as it is.
func (k *keptList) settle() {
	if len(k.changes) == 0 {
		return
	}
	next := outcome{version: k.out.version, foreign: k.out.foreign}
	for _, o := range k.out.objects {
		if _, changed := k.changes[o.Ref]; !changed {
			next.objects = append(next.objects, o)
		}
	}
	for _, f := range k.out.findings {
		if f.of != nil {
			if _, changed := k.changes[f.of.Ref]; changed {
				continue
			}
		}
		next.findings = append(next.findings, f)
	}
	for _, ref := range slices.SortedFunc(maps.Keys(k.changes), model.Ref.Compare) {
		next.objects = append(next.objects, k.changes[ref].objects...)
		next.findings = append(next.findings, k.changes[ref].findings...)
	}
	next.readable = len(next.objects)
	k.out, k.changes = next, nil
}
