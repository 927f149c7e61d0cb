package requestline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Flags describe one request besides its method and URL.
type Flags struct {
	Options    request.Options
	Gateway    string
	Listener   string
	MethodFlag string   // the method, as a flag
	Expect     []string // what is expected of the answer
	Client     string   // the workload that sends it; of a connection also an address
	Ingress    string   // the class of Ingress objects whose proxy it is sent to
	Circumstances
}

// FindRequestFlag returns the name of the first flag that is set and says what one request is; "" if none is.
func (f *Flags) FindRequestFlag() string {
	for _, one := range []struct {
		name string
		set  bool
	}{{"method", f.MethodFlag != ""}, {"header", len(f.Options.Headers) > 0}, {"sni", f.Options.SNI != ""},
		{"grpc", f.Options.GRPC != ""}, {"protocol", f.Options.Protocol != ""},
		{"from-namespace", f.Options.From != ""}, {"from", f.Client != ""},
		{"client-ip", f.ClientIP != ""}, {"client-cert", f.ClientCert != ""},
		{"body-bytes", f.BodyBytes != 0}, {"repeat", f.Repeat > 1}, {"assume", len(f.Assume) > 0}} {
		if one.set {
			return one.name
		}
	}
	return ""
}

// AddFlags adds the flags; a line of a file of requests has them too.
func (f *Flags) AddFlags(fs *pflag.FlagSet) {
	f.AddRequestFlags(fs)
	f.Circumstances.addFlags(fs)
	fs.StringVar(&f.Ingress, "ingress", "",
		"the request is sent to the proxy of Ingress objects of this class (default: if the input has no Gateway)")
	fs.StringVar(&f.Client, "from", "",
		"source of a request or a connection: a pod or workload as [NAMESPACE/]NAME; of a connection also an address")
	fs.StringArrayVar(&f.Expect, "expect", nil,
		"exit with 1 unless this is the answer: 200, 404, another status of the Gateway's own, allowed, denied, no-match, or policy=KIND/[NAMESPACE/]NAME (repeatable)")
}

// AddRequestFlags adds the flags of a request of which nothing is expected.
func (f *Flags) AddRequestFlags(fs *pflag.FlagSet) {
	fs.StringVarP(&f.MethodFlag, "method", "X", "", "request method, in the place of the argument METHOD")
	fs.StringArrayVarP(&f.Options.Headers, "header", "H", nil, "request header, as 'name: value' (repeatable)")
	fs.StringVar(&f.Gateway, "gateway", "",
		"Gateway the request is sent to, as [KIND/][NAMESPACE/]NAME (default: every one with a matching listener)")
	fs.StringVar(&f.Listener, "listener", "", "only listeners with this name")
	fs.StringVar(&f.Options.SNI, "sni", "", "TLS server name (default: the URL's host)")
	fs.StringVar(&f.Options.GRPC, "grpc", "", "gRPC request, as package.Service/Method")
	fs.StringVar(&f.Options.Protocol, "protocol", "",
		"a connection instead of an HTTP request: TLS|TCP|UDP; with --from and --to: TCP|UDP|SCTP")
	fs.StringVar(&f.Options.From, "from-namespace", "", "request in the mesh, from a client in this namespace")
}

// AddCurlFlag adds the flag that gives a request as a curl command.
func AddCurlFlag(fs *pflag.FlagSet, curl *string) {
	fs.StringVar(curl, "curl", "", "take the request from a curl command, instead of METHOD and URL")
}

// Request is a request as it was typed.
type Request struct {
	Flags       Flags
	Method, URL string
	Origin      string // file:line, where it comes from a file
}

// readArguments reads [METHOD] URL.
func (q *Request) readArguments(args []string) error {
	switch len(args) {
	case 1:
		if slices.Contains(commonMethods, args[0]) {
			return failure.Usage("write: kubectl dopolicy request "+args[0]+" https://shop.example.com/cart",
				"a request needs a URL")
		}
		q.Method, q.URL = strings.ToUpper(cmp.Or(q.Flags.MethodFlag, "GET")), args[0]
	case 2:
		if q.Flags.MethodFlag != "" && !strings.EqualFold(q.Flags.MethodFlag, args[0]) {
			return failure.Usage("drop one of the two", "-X %s and the method %s cannot be given together",
				q.Flags.MethodFlag, args[0])
		}
		q.Method, q.URL = strings.ToUpper(args[0]), args[1]
	default:
		return failure.Usage(
			"write: kubectl dopolicy request [METHOD] URL, for example: request GET https://shop.example.com/cart",
			"a request needs a URL")
	}
	return nil
}

// commonMethods are words that are no host.
var commonMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

// ReadTyped reads the request from the arguments or a curl command.
func (q *Request) ReadTyped(args []string, curl string) error {
	if curl == "" {
		return q.readArguments(args)
	}
	if len(args) > 0 || q.Flags.MethodFlag != "" {
		return failure.Usage("drop one of the two", "a URL or -X and --curl cannot be given together")
	}
	words, err := SplitWords(curl)
	if err != nil {
		return err
	}
	return q.readCurl(words)
}

// Parse reads a request in one text: [METHOD] URL with flags, or a curl command.
func Parse(text string) (Request, error) {
	words, err := SplitWords(text)
	if err != nil {
		return Request{}, err
	}
	var q Request
	if len(words) > 0 && words[0] == "curl" {
		if err := q.readCurl(words); err != nil {
			return q, err
		}
		return q, q.Flags.CheckExpectations()
	}
	fs := pflag.NewFlagSet("request", pflag.ContinueOnError)
	q.Flags.AddFlags(fs)
	q.Flags.AddAssumeFlag(fs)
	if err := fs.Parse(words); err != nil {
		return q,
			failure.Usage(
				"a request takes -X, -H, --gateway, --listener, --ingress, --sni, --grpc, --protocol, --from-namespace, --client-ip, --client-cert, --body-bytes, --repeat, --assume and --expect",
				"%s", err)
	}
	if err := q.Flags.CheckExpectations(); err != nil {
		return q, err
	}
	return q, q.readArguments(fs.Args())
}
