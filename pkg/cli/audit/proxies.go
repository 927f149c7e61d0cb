package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// How proxies are asked: side by side, each with a time limit of its own, which --request-timeout
// replaces.
const (
	proxiesAtOnce = 4
	proxyTimeout  = 30 * time.Second
)

// dumpPath asks for what is compared alone: no secrets, no endpoints.
const dumpPath = "/config_dump?mask=bootstrap.node,version_info,static_listeners,dynamic_listeners,static_route_configs,dynamic_route_configs,static_clusters,dynamic_active_clusters,dynamic_warming_clusters"

// proxyPod is the pod of a proxy, and what its admin port answered.
type proxyPod struct {
	pod  cluster.Pod
	port int

	found []*dataplane.Proxy
	err   error
}

// askProxies finds the proxies of the Gateways of the input by their labels and asks them for their
// configuration. A proxy that fails is left out with a problem.
func (o *Options) askProxies(ctx context.Context, session *source.Session) ([]*dataplane.Proxy,
	[]model.Problem, error) {
	s := o.Environment.Streams
	c, err := o.Query.Source.Cluster.Find()
	if err != nil {
		return nil, nil, err
	}
	pods, limit := cluster.NewPodClient(c.Config), proxyTimeout
	if c.Timeout > 0 {
		limit = c.Timeout
	}
	all, problems := findProxyPods(ctx, pods, session, plugin.Mappings(o.Environment.Plugins))
	if s.ErrIsTTY && len(all) > 0 {
		fmt.Fprintf(s.Err, "asking %d proxies…\n", len(all))
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, proxiesAtOnce)
	for i := range all {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			all[i].readConfigDump(ctx, pods, limit)
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, nil, failure.NoAnswer("interrupted while asking proxies", "")
	}
	var out []*dataplane.Proxy
	for _, p := range all {
		if p.err != nil {
			problems = append(problems, proxyProblem("proxy "+p.pod.Namespace+"/"+p.pod.Name+" could not be asked",
				p.err))
		}
		out = append(out, p.found...)
	}
	if len(out) == 0 && len(problems) == 0 {
		return nil, nil, failure.NoAnswer("there are no Gateways whose proxies could be asked",
			"name a dump with --dataplane")
	}
	return out, problems, nil
}

func (p *proxyPod) readConfigDump(ctx context.Context, pods cluster.PodClient, limit time.Duration) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	var data []byte
	if data, p.err = pods.Get(ctx, p.pod, p.port, dumpPath); p.err == nil {
		p.found, p.err = dataplane.ReadDump(p.pod.Namespace+"/"+p.pod.Name, data)
	}
}

// findProxyPods finds the pods of all Gateways, each once.
func findProxyPods(ctx context.Context, pods cluster.PodClient, session *source.Session,
	mappings []audit.Mapping) ([]proxyPod, []model.Problem) {
	var out []proxyPod
	var problems []model.Problem
	for _, o := range session.Snapshot.OfKind(model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}) {
		if session.Flags.Namespace != "" && !session.Flags.AllNamespaces && o.Ref.Namespace != session.Flags.Namespace {
			continue
		}
		found, failed := 0, false
		for _, m := range mappings {
			ids := session.Graph.Lookup(o.Ref)
			if len(ids) > 0 {
				if whose := session.Graph.ImplementationName(ids[0]); whose != "" && whose != m.Vendor {
					continue
				}
			}
			named, err := pods.FindRunning(ctx, m.PodLabels(o.Ref))
			if err != nil {
				problems, failed = append(problems, proxyProblem("the proxies of "+o.Ref.String()+
					" could not be looked for", err)), true
				break
			}
			for _, pod := range named {
				found++
				if !slices.ContainsFunc(out, func(p proxyPod) bool { return p.pod == pod }) {
					out = append(out, proxyPod{pod: pod, port: m.AdminPort})
				}
			}
			if found > 0 {
				break
			}
		}
		if found == 0 && !failed {
			ref := o.Ref
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Ref: &ref,
				Message: "no running proxy of " + ref.String() + " was found by its labels",
				Hint:    "give its dump with --dataplane"})
		}
	}
	return out, problems
}

// proxyProblem says that a proxy could not be asked, and why.
func proxyProblem(what string, err error) model.Problem {
	if errors.Is(err, cluster.ErrForbidden) {
		return model.Problem{Severity: model.Warning, Code: model.Forbidden, Message: what +
			": you may not forward ports of pods, or list them",
			Hint: "ask for: create on pods/portforward and list on pods, or give a dump with --dataplane"}
	}
	return model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: what + ": " + err.Error(),
		Hint: "give its dump with --dataplane"}
}
