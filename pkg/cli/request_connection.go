package cli

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// connectionEnds describe a connection. If one of them is given, the command is not about a URL.
type connectionEnds struct {
	from, to string
	port     int
}

func (f *connectionEnds) addConnectionFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.from, "from", "", "source of a connection: a pod or workload as [NAMESPACE/]NAME, or an address")
	fs.StringVar(&f.to, "to", "", "destination of a connection: a pod or workload as [NAMESPACE/]NAME, or an address")
	fs.IntVar(&f.port, "port", 0, "destination port of a connection")
}

// isGiven reports whether the command is about a connection.
func (f *connectionEnds) isGiven() bool { return f.from != "" || f.to != "" || f.port != 0 }

// connectionProtocols are those that a connection may have.
var connectionProtocols = []string{"TCP", "UDP", "SCTP"}

// checkConnection refuses flags that do not go together, before anything is read.
func (f *connectionEnds) checkConnection(one *typedRequest, args []string, other bool) error {
	protocol := strings.ToUpper(one.flags.options.Protocol)
	example := "write: kubectl dopolicy request --from shop/web-0 --to pay/db-0 --protocol TCP --port 5432"
	switch {
	case len(args) > 0 || other || one.flags.gateway != "" || one.flags.listener != "" || one.flags.options.SNI != "" || one.flags.options.GRPC != "" || one.flags.options.From != "" || one.flags.methodFlag != "" || len(one.flags.options.Headers) > 0:
		return newUsageError(example, "--from, --to and --port describe a connection and cannot be combined with a URL or other flags of a request")
	case f.from == "" || f.to == "":
		return newUsageError(example, "a connection needs --from and --to")
	case f.port < 1 || f.port > 1<<16-1:
		return newUsageError(example, "a connection needs --port, from 1 to 65535")
	case protocol != "" && !slices.Contains(connectionProtocols, protocol):
		return newUsageError("use one of: "+strings.Join(connectionProtocols, ", "), "a connection cannot have the protocol %q", one.flags.options.Protocol)
	}
	return nil
}

// answerConnection answers whether policies let a connection through.
func (o *requestOptions) answerConnection(ctx context.Context) error {
	q, s, f, one := &o.Query, o.Environment.Streams, &o.Connection, &o.Request
	q.Source.workloads = true
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	ask := request.Query{Protocol: strings.ToUpper(one.flags.options.Protocol), Port: f.port}
	if ask.Protocol == "" {
		ask.Protocol = connectionProtocols[0]
	}
	if ask.From, err = findPeer(session, f.from); err != nil {
		return err
	}
	if ask.To, err = findPeer(session, f.to); err != nil {
		return err
	}
	if ask.From.Workload == topology.None && ask.To.Workload == topology.None {
		return newUsageError("use a pod for --from or --to", "no policy applies to a connection between two addresses")
	}
	expect, err := resolveExpectations(session, one.flags.expect, false)
	if err != nil {
		return err
	}
	out := session.Connection(ask, kinds, expect...)
	if err := q.Output.writeWithProblems(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.reportUnmet(s, out.Unmet())
}

// findPeer finds the workload that [NAMESPACE/][KIND/]NAME means, or reads an address.
func findPeer(s *session, text string) (request.Peer, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return request.Peer{Workload: topology.None, Address: a.Unmap()}, nil
	}
	parts := strings.Split(text, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return request.UnknownPeer(), newUsageError("write [NAMESPACE/]NAME, or [NAMESPACE/]KIND/NAME", "%q is neither a pod nor an address", text)
	}
	var found []model.Ref
	var all []string
	for _, gk := range topology.WorkloadKinds() {
		for _, o := range s.Snapshot.OfKind(gk) {
			all = append(all, o.Ref.FullName(), o.Ref.Name)
			if isNamed(s, parts, o.Ref) {
				found = append(found, o.Ref)
			}
		}
	}
	if pods := slices.DeleteFunc(slices.Clone(found), func(r model.Ref) bool { return r.Kind != "Pod" }); len(pods) > 0 && len(parts) < 3 {
		found = pods
	}
	found = slices.DeleteFunc(found, func(r model.Ref) bool { return len(found) > 1 && len(s.Graph.Lookup(r)) == 0 })
	switch {
	case len(found) == 0 && statefulSetOfPod(s, parts) != nil:
		return findPeer(s, statefulSetOfPod(s, parts).FullName())
	case len(found) == 0:
		hint := ""
		if near := form.Nearest(text, all); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return request.UnknownPeer(), s.notFoundError(hint, "no pod or workload %q %s", text, s.describeScope())
	case len(found) > 1:
		return request.UnknownPeer(), newUsageError("name one of: "+formatRefs(found)+", as NAMESPACE/KIND/NAME", "%q is ambiguous: %d objects have this name", text, len(found))
	}
	ids := s.Graph.Lookup(found[0])
	if len(ids) == 0 {
		return request.UnknownPeer(), newUsageError("name one of its pods", "the pods of %s are in the input: ask about one of them", found[0])
	}
	return request.Peer{Workload: ids[0]}, nil
}

// isNamed reports whether [NAMESPACE/][KIND/]NAME means an object.
func isNamed(s *session, parts []string, ref model.Ref) bool {
	last := len(parts) - 1
	if parts[last] != ref.Name {
		return false
	}
	kind := func(word string) bool {
		gk, ok := s.findKind(word)
		return ok && gk == ref.GroupKind()
	}
	switch last {
	case 0:
		return s.isInNamespace(ref)
	case 1:
		return parts[0] == ref.Namespace || kind(parts[0]) && s.isInNamespace(ref)
	}
	return parts[0] == ref.Namespace && kind(parts[1])
}

// statefulSetOfPod finds the StatefulSet that would make a pod of this name, NAME-0 to NAME-N; nil
// if there is none.
func statefulSetOfPod(s *session, parts []string) *model.Ref {
	name := parts[len(parts)-1]
	at := strings.LastIndex(name, "-")
	if at < 0 || len(parts) > 2 {
		return nil
	}
	n, err := strconv.Atoi(name[at+1:])
	for _, o := range s.Snapshot.OfKind(model.GroupKind{Group: "apps", Kind: "StatefulSet"}) {
		replicas, ok := o.Get("spec", "replicas").(int64)
		if !ok {
			replicas = 1
		}
		if err == nil && int64(n) < replicas && isNamed(s, append(slices.Clone(parts[:len(parts)-1]), name[:at]), o.Ref) {
			return &o.Ref
		}
	}
	return nil
}
