package behavior

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// answerer answers requests on one side of a comparison between proxies that different objects
// configure: at the proxy of Ingresses, or at Gateways.
type answerer interface {
	listHosts() []string
	findTests(host string) ingress.Tests
	answerRequest(r request.Request) (*sideAnswer, error)
}

// sideAnswer is what a request gets on one side.
type sideAnswer struct {
	ingress.Answer
	decides  ingress.Tests // what else of the request decides
	atRule   *request.Answer
	problems []model.Problem // what makes it incomplete
}

// proxyAnswerer answers at the proxy of Ingresses.
type proxyAnswerer struct{ proxy *ingress.Proxy }

func (p proxyAnswerer) listHosts() []string { return p.proxy.Hosts }

func (p proxyAnswerer) findTests(host string) ingress.Tests { return p.proxy.Tests(host) }

func (p proxyAnswerer) answerRequest(r request.Request) (*sideAnswer, error) {
	got := p.proxy.Answer(&r, nil)
	return &sideAnswer{Answer: *got, problems: got.Problems}, nil
}

// gatewayAnswerer answers at Gateways: at one, or at each that has a listener for a request.
type gatewayAnswerer struct {
	input       view.Input
	competition request.Competition
	writer      requests.Writer
	destination request.Destination
	ports       map[bool]int32 // on which requests come without TLS and with it
}

func newGatewayAnswerer(in view.Input, kinds []model.GroupKind, gateway topology.NodeID) *gatewayAnswerer {
	out := &gatewayAnswerer{input: in, competition: request.Competition{Matcher: in.Matcher},
		writer:      requests.Writer{Collector: collect.NewForRequests(in.Resolution, kinds), Judges: in.Judges},
		destination: request.Destination{Gateway: gateway}, ports: map[bool]int32{}}
	for _, secure := range []bool{false, true} {
		out.ports[secure] = out.choosePort(secure)
	}
	return out
}

// choosePort returns the port of the listeners on which requests come: that of URLs without a port, or
// the first one where no listener has that, as a Service in front of the proxies translates ports.
func (g *gatewayAnswerer) choosePort(secure bool) int32 {
	usual, first := defaultPort(secure), int32(0)
	for _, e := range g.competition.Entries(g.destination) {
		switch {
		case e.Secure != secure:
		case e.Port == usual:
			return usual
		case first == 0:
			first = e.Port
		}
	}
	return cmp.Or(first, usual)
}

// listHosts returns the hostnames of the listeners and of the routes, those of routes that no
// listener takes included.
func (g *gatewayAnswerer) listHosts() []string {
	var out []string
	for _, e := range g.competition.Entries(g.destination) {
		out = append(out, g.competition.Hostnames(e)...)
	}
	for _, o := range g.input.Resolution.Snapshot.OfKind(httpRouteKind) {
		for _, h := range o.Body.At("spec", "hostnames").Items {
			if name, ok := h.Value().(string); ok && name != "" {
				out = append(out, strings.ToLower(name))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var httpRouteKind = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}

func (g *gatewayAnswerer) findTests(host string) ingress.Tests {
	var out ingress.Tests
	for _, e := range g.competition.Entries(g.destination) {
		if e.Port != g.ports[e.Secure] {
			continue
		}
		rivals := g.competition.Competitors(e, g.destination, host, request.HTTP)
		out.TLS = out.TLS || e.Secure && len(rivals) > 0
		for i := range rivals {
			for _, test := range rivals[i].Tests {
				switch test.Aspect {
				case request.AspectPath:
					out.Paths = append(out.Paths, test)
				case request.AspectMethod:
					out.Methods = append(out.Methods, test.Value)
				default:
					out.Fields = append(out.Fields, test)
				}
			}
		}
	}
	return out
}

// defaultPort is the port of a URL without one.
func defaultPort(secure bool) int32 {
	if secure {
		return 443
	}
	return 80
}

func (g *gatewayAnswerer) answerRequest(r request.Request) (*sideAnswer, error) {
	if r.Port == defaultPort(r.Secure) {
		r.Port = g.ports[r.Secure]
	}
	all, err := g.input.Matcher.FindAll(r, g.destination)
	if err != nil {
		return nil, err
	}
	var out *sideAnswer
	for _, a := range all {
		got := g.writer.AnswerAtGateway(a)
		one := &sideAnswer{Answer: got.Answer, decides: got.Decides, atRule: a, problems: a.Problems}
		switch {
		case out == nil || out.Outcome == request.NoMatch:
			out = one
		case one.Outcome != request.NoMatch && one.classKey() != out.classKey():
			out.Outcome = request.NotEvaluated
			out.Why = []string{"several Gateways answer it, each in its way: name one as gateway:NAMESPACE/NAME"}
		}
	}
	return out, nil
}
