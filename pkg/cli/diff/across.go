package diff

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
)

// The prefixes of what names a proxy of one input, in the place of a side.
const (
	ingressPrefix = "ingress:"
	gatewayPrefix = "gateway:"
)

// namesEndpoint reports whether an argument names a proxy of an input.
func namesEndpoint(arg string) bool {
	return strings.HasPrefix(arg, ingressPrefix) || strings.HasPrefix(arg, gatewayPrefix)
}

// checkIngressFlags refuses settings that cannot be compared.
func (f *Behavior) checkIngressFlags() error {
	for _, name := range []string{f.Before, f.After} {
		if name != "" && !namesEndpoint(name) {
			return failure.Usage("write ingress:CLASS or gateway:NAMESPACE/NAME", "%q names no proxy", name)
		}
	}
	for _, name := range f.Also {
		if !slices.Contains(behavior.AlsoSettings(), name) {
			return failure.Usage("use: "+strings.Join(behavior.AlsoSettings(), ", "), "--also: unknown setting %q", name)
		}
	}
	return nil
}

// compareEndpoints compares two proxies of one input: the cluster, or the files of -f.
func (f *Options) compareEndpoints(ctx context.Context) error {
	if len(f.Args) != 2 || !namesEndpoint(f.Args[0]) || !namesEndpoint(f.Args[1]) || !f.Behavior.Enabled {
		return failure.Usage("write: diff --behavior --live ingress:CLASS gateway:NAMESPACE/NAME",
			"two proxies of one input are compared with --behavior, each as ingress:CLASS or gateway:NAMESPACE/NAME")
	}
	if f.Behavior.Live && len(f.Sides.Source.Files) > 0 {
		return failure.Usage("drop one of the two", "--live and -f cannot be given together here")
	}
	if strings.HasPrefix(f.Args[0], gatewayPrefix) && strings.HasPrefix(f.Args[1], gatewayPrefix) {
		return failure.Usage("name the proxy of Ingresses as one of the two: ingress:CLASS",
			"two Gateways of one input are not compared")
	}
	f.Sides.Source.Points = true
	session, err := f.Sides.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	return f.compareSessions(session, session)
}

// chooseEndpoints returns what each side is: what the arguments name, else the proxy of Ingresses
// where a side has no Gateway. It is not across if both sides are Gateways.
func (f *Options) chooseEndpoints(before, after *source.Session) (ends [2]behavior.Endpoint, across bool, err error) {
	for i, s := range []*source.Session{before, after} {
		ends[i].Gateway = topology.None
		if name := f.endpointName(i); name != "" {
			if ends[i], err = findEndpoint(s, name); err != nil {
				return ends, false, err
			}
		} else if proxies := s.Proxies(); len(proxies) > 0 && !s.HasGateways() {
			ends[i].Proxy = proxies[0]
		}
		across = across || ends[i].Proxy != nil
	}
	return ends, across, nil
}

// endpointName returns what names the proxy of a side; "": nothing does.
func (f *Options) endpointName(side int) string {
	if len(f.Args) == 2 && namesEndpoint(f.Args[side]) {
		return f.Args[side]
	}
	return []string{f.Behavior.Before, f.Behavior.After}[side]
}

// findEndpoint finds the proxy that an argument names.
func findEndpoint(s *source.Session, arg string) (behavior.Endpoint, error) {
	out := behavior.Endpoint{Gateway: topology.None}
	if class, found := strings.CutPrefix(arg, ingressPrefix); found {
		proxies, err := requestline.FindProxies(s, class)
		if err == nil {
			out.Proxy = proxies[0]
		}
		return out, err
	}
	var err error
	out.Gateway, err = requestline.NewMatcher(s).FindGateway(strings.TrimPrefix(arg, gatewayPrefix))
	return out, err
}

// compareAcross answers where at least one side is the proxy of Ingresses.
func (f *Options) compareAcross(before, after *source.Session, ends [2]behavior.Endpoint, q behavior.Query) error {
	b := &f.Behavior
	if b.Weights != "" || len(b.Protect) > 0 {
		return failure.Usage("drop it", "--weights and --protect compare Gateways, and a side is the proxy of Ingresses")
	}
	q.Also, q.IngressHostsOnly = b.Also, f.endpointName(0)+f.endpointName(1) != ""
	if b.RequestsFile != "" {
		lines, err := requestline.ReadFile(b.RequestsFile, f.Environment.Streams.In)
		if err != nil {
			return err
		}
		for i := range lines {
			r, err := lines[i].ToRequest()
			if err != nil {
				return requestline.LocateError(lines[i].Origin, err)
			}
			q.Requests = append(q.Requests, r)
		}
	}
	out, err := dopolicy.BehaviorAcross(before.Input, after.Input, ends, q)
	if err != nil {
		return err
	}
	if err := f.writeBehavior(after, out); err != nil {
		return err
	}
	switch {
	case out.Opened > 0, !b.NoNewAccess && out.HasChanges():
		return failure.ErrFindings
	case b.NoNewAccess && !out.IsAccessCertain():
		return errAccessUnknown
	case !b.NoNewAccess && out.Verdict == behavior.NotProved:
		return failure.NoAnswer("not proved that every request gets the same", "the answer says what is not known")
	}
	return nil
}

// noteIngresses says that Ingresses of a side with Gateways are not compared.
func (f *Options) noteIngresses(before, after *source.Session, out *behavior.BehaviorDiff) {
	for i, s := range []*source.Session{before, after} {
		for _, p := range s.Proxies() {
			if len(p.Hosts) > 0 {
				out.AddNotCompared(fmt.Sprintf(
					"Ingresses of class %s on the %s side, which has Gateways as well: --%s %s%s compares them", p.Class, []string{"first", "second"}[i], []string{"before", "after"}[i], ingressPrefix, p.Class))
			}
		}
	}
}
