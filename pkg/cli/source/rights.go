package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// rightsName begins the names of the roles that are printed.
const rightsName = "kubectl-dopolicy-"

// unknownUser stands for the user where no server says who that is.
const unknownUser = "NAME-OF-THE-USER"

// printRights prints the roles and bindings that are missing for answers about the namespace that is
// asked about, or with -A for those about everything.
func (s *Session) printRights(ctx context.Context) error {
	if s.Snapshot.Cluster == nil {
		return failure.Usage("drop -f, or name a snapshot of a cluster with it",
			"--print-rbac is about a cluster: manifests need no rights")
	}
	rights := s.findMissingRights()
	if len(rights) == 0 {
		fmt.Fprintln(s.Streams.Err, "nothing that matters is forbidden: no rights are missing")
		return failure.ErrAnswered
	}
	user := s.Flags.findUser(ctx, s.Streams)
	out := bytes.NewBufferString("# What this question reads and " + user + " cannot. Have it applied by whoever " +
		"administers the cluster.\n")
	for _, namespace := range slices.Sorted(maps.Keys(rights)) {
		writeRole(out, rights[namespace].formatRules(), namespace, user)
	}
	if _, err := s.Streams.Out.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing the rights: %w", err)
	}
	return failure.ErrAnswered
}

// findUser returns the user who lacks rights.
func (f *Flags) findUser(ctx context.Context, s run.Streams) string {
	if f.ReadsFiles() {
		return unknownUser
	}
	c, err := f.Cluster.Find()
	if err != nil {
		return unknownUser
	}
	server, err := f.NewServer(c, s)
	if err != nil {
		return unknownUser
	}
	name, err := server.FindUser(ctx)
	if err != nil { // an old server, or one that does not say
		return cmp.Or(f.Cluster.Config.Overrides.AuthInfo.Impersonate, unknownUser)
	}
	return cmp.Or(name, unknownUser)
}

// listRights are the resources that have to be listed in one place, by group.
type listRights map[string][]string

// findMissingRights returns what is forbidden and matters, by namespace; "" is for the whole cluster.
func (s *Session) findMissingRights() map[string]listRights {
	out := map[string]listRights{}
	for _, p := range s.problemsOfNamespace() {
		if !p.IsForbiddenList() {
			continue
		}
		plural := descriptor.PluralOf(p.Ref.Kind)
		if k := s.Snapshot.Cluster.FindKind(p.Ref.GroupKind()); k != nil {
			plural = k.Plural
		}
		at := out[p.Ref.Namespace]
		if at == nil {
			at = listRights{}
			out[p.Ref.Namespace] = at
		}
		if !slices.Contains(at[p.Ref.Group], plural) {
			at[p.Ref.Group] = append(at[p.Ref.Group], plural)
		}
	}
	return out
}

// problemsOfNamespace returns the problems that matter for answers about the namespace that is asked
// about: all, where it has no route that was read.
func (s *Session) problemsOfNamespace() []model.Problem {
	var routes []topology.NodeID
	for id := range topology.NodeID(s.Graph.Len()) {
		if n := s.Graph.Node(id); n.Role == topology.Route && n.Ref.Namespace == s.Flags.Namespace {
			routes = append(routes, id)
		}
	}
	if s.Flags.AllNamespaces || len(routes) == 0 {
		return s.Snapshot.Problems
	}
	out := s.EffectivePolicies(view.Query{Targets: routes}).Problems
	for _, p := range s.Snapshot.Problems {
		if p.Ref != nil && p.Ref.Namespace == s.Flags.Namespace {
			out = append(out, p)
		}
	}
	return out
}

// formatRules returns the rules of a role.
func (r listRights) formatRules() string {
	var out strings.Builder
	for _, group := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(&out, "- apiGroups: [%q]\n  resources:\n", group)
		slices.Sort(r[group])
		for _, resource := range r[group] {
			fmt.Fprintf(&out, "  - %s\n", resource)
		}
		fmt.Fprintln(&out, "  verbs: [list, watch]")
	}
	return out.String()
}

// writeRole writes a role and its binding. Their name is one of its own for every user and set of
// rules, so that applying it takes no rights away that another one gives.
func writeRole(out *bytes.Buffer, rules, namespace, user string) {
	kind, where := "Role", "\n  namespace: "+namespace
	if namespace == "" {
		kind, where = "ClusterRole", ""
	}
	name := strings.NewReplacer("/", "-", "%", "-").Replace(fmt.Sprintf("%s%s-%08x", rightsName, user,
		crc32.ChecksumIEEE([]byte(rules))))
	fmt.Fprintf(out, `---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]s
metadata:
  name: %[2]q%[3]s
rules:
%[5]s---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]sBinding
metadata:
  name: %[2]q%[3]s
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: %[1]s
  name: %[2]q
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: %[4]q
`, kind, name, where, user, rules)
}
