package request

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Connection describe a connection. If one of them is given, the command is not about a URL.
type Connection struct {
	To   string
	Port int
}

func (f *Connection) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.To, "to", "", "destination of a connection: a pod or workload as [NAMESPACE/]NAME, or an address")
	fs.IntVar(&f.Port, "port", 0, "destination port of a connection")
}

// isGiven reports whether the command is about a connection, and not about a URL.
func (f *Connection) isGiven(from string, url bool) bool {
	return f.To != "" || f.Port != 0 || from != "" && !url
}

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
			"--to and --port describe a connection and cannot be combined with a URL or other flags of a request")
	case one.Flags.Client == "" || f.To == "":
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
	ask := requests.ConnectionQuery{Protocol: strings.ToUpper(one.Flags.Options.Protocol), Port: f.Port}
	if ask.Protocol == "" {
		ask.Protocol = connectionProtocols[0]
	}
	if ask.From, err = requestline.FindWorkload(session, one.Flags.Client); err != nil {
		return err
	}
	if ask.To, err = requestline.FindWorkload(session, f.To); err != nil {
		return err
	}
	if ask.From.Object == nil && ask.To.Object == nil {
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
