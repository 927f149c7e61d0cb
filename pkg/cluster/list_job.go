package cluster

import (
	"strings"
	"sync/atomic"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listJob is one list to be read: the objects of a kind, of one namespace if it is not "".
type listJob struct {
	kind          *model.ServedKind
	namespace     string
	name          string                   // of the one object that is read instead of a list; "": a list
	isKept        func(*model.Object) bool // nil: keep all
	labelSelector string                   // a selector; "": all
	fieldSelector string                   // the same, of fields
	fromCache     bool                     // the server may answer from its cache
	targetsOnly   bool                     // no more is kept than targets need
}

// readerOptions say how the objects of the list are read.
func (j listJob) readerOptions(cluster string, limits document.Limits, count *atomic.Int64) document.ListOptions {
	return document.ListOptions{Cluster: cluster, APIVersion: apiVersionOf(j.kind), Kind: j.kind.Kind,
		IsMetadataOnly: j.isMetadataOnly(),
		TargetsOnly:    j.targetsOnly, IsKept: j.isKept, Limits: limits, Count: count}
}

// isPartial reports whether the list is not all that there is of the kind and namespace.
func (j listJob) isPartial() bool { return j.labelSelector != "" || j.fieldSelector != "" }

// isMetadataOnly reports whether only the metadata of the objects can matter: they are targets of a
// kind of Kubernetes without sections.
func (j listJob) isMetadataOnly() bool {
	switch j.kind.Group {
	case "":
		return j.targetsOnly && j.kind.Kind != "Service"
	case "apps", "batch":
		return j.targetsOnly
	}
	return false
}

// readingOrder orders the jobs: the lists that are long as a rule begin first.
func (j listJob) readingOrder() int {
	switch {
	case strings.HasSuffix(j.kind.Kind, "Route"):
		return 0
	case j.kind.Group == gatewayGroup, j.kind.Group == "", j.kind.GroupKind == model.DefinitionKind():
		return 1
	}
	return 2
}

func (j listJob) String() string {
	if j.namespace == "" {
		return j.kind.Resource()
	}
	return j.kind.Resource() + " in namespace " + j.namespace
}
