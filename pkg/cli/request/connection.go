package request

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// Connection describe a connection. If one of them is given, the command is not about a URL.
type Connection struct {
	From, To string
	Port     int
}

func (f *Connection) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.From, "from", "", "source of a connection: a pod or workload as [NAMESPACE/]NAME, or an address")
	fs.StringVar(&f.To, "to", "", "destination of a connection: a pod or workload as [NAMESPACE/]NAME, or an address")
	fs.IntVar(&f.Port, "port", 0, "destination port of a connection")
}

// isGiven reports whether the command is about a connection.
func (f *Connection) isGiven() bool { return f.From != "" || f.To != "" || f.Port != 0 }

// connectionProtocols are those that a connection may have.
var connectionProtocols = []string{"TCP", "UDP", "SCTP"}

// checkFlags refuses flags that do not go together, before anything is read.
func (f *Connection) checkFlags(one *requestline.Request, args []string, other bool) error {
	protocol := strings.ToUpper(one.Flags.Options.Protocol)
	example := "write: kubectl dopolicy request --from shop/web-0 --to pay/db-0 --protocol TCP --port 5432"
	switch {
	case len(args) > 0 || other || one.Flags.Gateway != "" || one.Flags.Listener != "" ||
		one.Flags.Options.SNI != "" || one.Flags.Options.GRPC != "" || one.Flags.Options.From != "" ||
		one.Flags.MethodFlag != "" || len(one.Flags.Options.Headers) > 0:
		return failure.Usage(example,
			"--from, --to and --port describe a connection and cannot be combined with a URL or other flags of a request")
	case f.From == "" || f.To == "":
		return failure.Usage(example, "a connection needs --from and --to")
	case f.Port < 1 || f.Port > 1<<16-1:
		return failure.Usage(example, "a connection needs --port, from 1 to 65535")
	case protocol != "" && !slices.Contains(connectionProtocols, protocol):
		return failure.Usage("use one of: "+strings.Join(connectionProtocols, ", "),
			"a connection cannot have the protocol %q", one.Flags.Options.Protocol)
	}
	return nil
}

// answerConnection answers whether policies let a connection through.
func (o *Options) answerConnection(ctx context.Context) error {
	q, s, f, one := &o.Query, o.Environment.Streams, &o.Connection, &o.Request
	q.Source.Workloads = true
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	ask := evaluate.Query{Protocol: strings.ToUpper(one.Flags.Options.Protocol), Port: f.Port}
	if ask.Protocol == "" {
		ask.Protocol = connectionProtocols[0]
	}
	if ask.From, err = findPeer(session, f.From); err != nil {
		return err
	}
	if ask.To, err = findPeer(session, f.To); err != nil {
		return err
	}
	if ask.From.Workload == topology.None && ask.To.Workload == topology.None {
		return failure.Usage("use a pod for --from or --to", "no policy applies to a connection between two addresses")
	}
	expect, err := requestline.ResolveExpectations(session, one.Flags.Expect, false)
	if err != nil {
		return err
	}
	out := session.Connection(ask, kinds, expect...)
	if err := q.Output.Write(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.ReportUnmet(s, out.Unmet())
}

// findPeer finds the workload that [KIND/][NAMESPACE/]NAME means, or reads an address.
func findPeer(s *source.Session, text string) (evaluate.Peer, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return evaluate.Peer{Workload: topology.None, Address: a.Unmap()}, nil
	}
	parts := strings.Split(text, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return evaluate.UnknownPeer(), failure.Usage("write [KIND/][NAMESPACE/]NAME",
			"%q is neither a pod nor an address", text)
	}
	var found []model.Ref
	var all []string
	for _, gk := range workload.Kinds() {
		for _, o := range s.Snapshot.OfKind(gk) {
			all = append(all, o.Ref.FullName(), o.Ref.Name)
			if isNamed(s, parts, o.Ref) {
				found = append(found, o.Ref)
			}
		}
	}
	if pods := slices.DeleteFunc(slices.Clone(found), func(r model.Ref) bool { return r.Kind != "Pod" }); len(
		pods) > 0 && len(parts) < 3 {
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
		return evaluate.UnknownPeer(), s.NotFoundError(hint, "no pod or workload %q %s", text, s.DescribeScope())
	case len(found) > 1:
		return evaluate.UnknownPeer(), failure.Usage("name one of: "+source.FormatRefs(found), "%q is ambiguous: %d objects have this name", text, len(found))
	}
	ids := s.Graph.Lookup(found[0])
	if len(ids) == 0 {
		return evaluate.UnknownPeer(), failure.Usage("name one of its pods",
			"the pods of %s are in the input: ask about one of them", found[0])
	}
	return evaluate.Peer{Workload: ids[0]}, nil
}

// isNamed reports whether [KIND/][NAMESPACE/]NAME means an object. NAMESPACE/KIND/NAME, as it was
// written before, is taken too.
func isNamed(s *source.Session, parts []string, ref model.Ref) bool {
	last := len(parts) - 1
	if parts[last] != ref.Name {
		return false
	}
	kind := func(word string) bool {
		gk, ok := s.FindKind(word)
		return ok && gk == ref.GroupKind()
	}
	switch last {
	case 0:
		return s.IsInNamespace(ref)
	case 1:
		return parts[0] == ref.Namespace || kind(parts[0]) && s.IsInNamespace(ref)
	}
	return kind(parts[0]) && parts[1] == ref.Namespace || parts[0] == ref.Namespace && kind(parts[1])
}

// statefulSetOfPod finds the StatefulSet that would make a pod of this name, NAME-0 to NAME-N; nil
// if there is none.
func statefulSetOfPod(s *source.Session, parts []string) *model.Ref {
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
		if err == nil && int64(n) < replicas && isNamed(s, append(slices.Clone(parts[:len(parts)-1]), name[:at]),
			o.Ref) {
			return &o.Ref
		}
	}
	return nil
}
