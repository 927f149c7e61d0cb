package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// auditTally counts what audits of running Envoys found.
type auditTally struct {
	worlds, proxies, refused int // refused: proxies that refuse a part of their configuration, which are not audited
	same                     int // settings that the audits of faithful proxies compared and found as predicted
	changed, unchanged       int // proxies that have to be told something else after the manifests were changed, and those that have not
	failed                   []string
}

// audit audits the Envoys of worlds with policies by what their own admin endpoint says of them: with the manifests that they were told, where no
// difference is right, and with manifests that were changed since, where one has to be found if and only if the vendor's code tells the proxy something
// else now.
func (r *run) audit(ctx context.Context, s campaign.Seeds) error {
	p, err := r.vendor.Start(ctx, r.path, r.kept)
	if err != nil {
		return err
	}
	defer p.Stop()
	t := &auditTally{}
	for seed := s.First; seed <= s.Last && ctx.Err() == nil; seed++ {
		if err := r.auditWorld(ctx, p, t, seed); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		t.worlds++
	}
	fmt.Printf("%s (%s %s): %d worlds, %d proxies audited, %d refuse a part of what they are told; as predicted: %d settings; changes that had not arrived: %d found; changes that proxies are not told: %d; wrong audits: %d\n",
		r.vendor.Name, r.vendor.Module, r.version, t.worlds, t.proxies, t.refused, t.same, t.changed, t.unchanged, len(t.failed))
	for _, f := range t.failed {
		fmt.Println("  " + f)
	}
	if len(t.failed) > 0 {
		return errors.Join(campaign.ErrOpen, ctx.Err())
	}
	return ctx.Err()
}

func (r *run) auditWorld(ctx context.Context, p *program.Process, t *auditTally, seed int64) error {
	s := draw.NewSource(seed)
	before, err := drawWorld(s, r.vendor, false)
	if err != nil {
		return err
	}
	before.Seed = seed
	g := addPolicies(s, before, r.vendor.audited)
	told, err := r.vendor.told(p, before)
	if err != nil {
		return err
	}
	after, err := before.clone()
	if err != nil {
		return err
	}
	g.world = after
	changed := g.change()
	now, err := r.vendor.told(p, after)
	if err != nil {
		return err
	}
	for _, gateway := range before.gateways() {
		of := told[gateway]
		if of == nil || of.failed != "" {
			continue
		}
		dump, err := dumpOf(ctx, gateway, of)
		if errors.Is(err, errRefused) {
			t.refused++
			continue
		}
		if err != nil {
			return fmt.Errorf("gateway/%s: %w", gateway, err)
		}
		t.proxies++
		said, err := audit(ctx, r.program, dump, before)
		if err != nil {
			return err
		}
		t.same += said.Summary.Same
		if found := said.differences(); len(found) > 0 {
			t.failed = append(t.failed, fmt.Sprintf("seed %d, gateway/%s: the proxy was told all of it, and audit says: %s", seed, gateway, strings.Join(found, "; ")))
		}
		if said, err = audit(ctx, r.program, dump, after); err != nil {
			return err
		}
		found := said.differences()
		differs := !reflect.DeepEqual(of, now[gateway])
		if differs {
			t.changed++
		} else {
			t.unchanged++
		}
		if differs != said.names(changed) || !differs && len(found) > 0 {
			t.failed = append(t.failed, fmt.Sprintf("seed %d, gateway/%s: %s, the proxy has to be told something else: %t, and audit says: %s", seed, gateway, changed.what, differs, strings.Join(found, "; ")))
		}
	}
	return nil
}

// told is what the vendor's code tells the Envoys of a world.
func (v *vendor) told(p *program.Process, w *world) (map[string]*resources, error) {
	facts, err := p.Ask(w)
	if err != nil {
		return nil, err
	}
	return readResources(facts)
}

// audited is what an audit says.
type audited struct {
	Summary struct{ Same int }
	Items   []auditItem
}

// auditItem is what an audit says of one setting of a rule, or of a route of the proxy.
type auditItem struct {
	Verdict, PolicyKind, Setting string
	Target                       struct{ Kind, Namespace, Name, Section string }
	XDS                          struct{ Routes []string }
}

// differs reports whether an item is a difference between what is predicted and what a proxy does.
func (i *auditItem) differs() bool { return i.Verdict != "Same" && i.Verdict != "NotCompared" }

func (i *auditItem) String() string {
	return fmt.Sprintf("%s: %s %s %s", i.Verdict, i.route()+"/"+i.Target.Section, i.PolicyKind, i.Setting)
}

// route is the route of an item, as kind/namespace/name.
func (i *auditItem) route() string {
	return strings.ToLower(i.Target.Kind) + "/" + i.Target.Namespace + "/" + i.Target.Name
}

// differences are the items that are any, in words.
func (a *audited) differences() []string {
	var out []string
	for _, i := range a.Items {
		if i.differs() {
			out = append(out, i.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// names reports whether one of the differences is of what was changed.
func (a *audited) names(c change) bool {
	return slices.ContainsFunc(a.Items, func(i auditItem) bool {
		if !i.differs() {
			return false
		}
		if c.route != "" {
			return i.route() == c.route || slices.ContainsFunc(i.XDS.Routes, func(name string) bool { return strings.HasPrefix(name, c.route+"/") })
		}
		kind, _, _ := strings.Cut(i.PolicyKind, ".")
		setting, _, _ := strings.Cut(i.Setting, ".")
		return kind == c.kind && (c.setting == "" || setting == c.setting)
	})
}

// audit has kubectl-dopolicy hold a dump against the manifests of a world. That it exits with 1 or 3 is no failure: there are differences, or there was
// nothing to compare.
func audit(ctx context.Context, prog program.Program, dump []byte, w *world) (*audited, error) {
	manifests, err := draw.Manifests(w.Objects)
	if err != nil {
		return nil, err
	}
	file, removeFile, err := program.Temporary("objects-*.yaml", manifests)
	if err != nil {
		return nil, err
	}
	defer removeFile()
	of, removeDump, err := program.Temporary("dump-*.json", dump)
	if err != nil {
		return nil, err
	}
	defer removeDump()
	text, err := exec.CommandContext(ctx, string(prog), "audit", "-A", "-o", "json", "--dataplane", of, "-f", file).Output()
	out := &audited{}
	if jsonErr := json.Unmarshal(text, out); jsonErr != nil {
		return nil, fmt.Errorf("kubectl-dopolicy audit: %w", errors.Join(err, jsonErr))
	}
	return out, nil
}

// dumpOf runs the Envoy of a Gateway, which reads its configuration from files as from a control plane, and fetches what its admin endpoint says. Nothing
// is sent through it: all addresses are loopback's, and nothing listens there.
func dumpOf(ctx context.Context, gateway string, r *resources) ([]byte, error) {
	b, err := newBootstrap(r, func(string) (string, int, bool) { return "127.0.0.1", 9, true })
	if err != nil {
		return nil, err
	}
	if e, err := tryEnvoy(ctx, b); err != nil { // it would say nothing of what it refuses from files
		return nil, err
	} else if err := e.stop(); err != nil {
		return nil, err
	}
	b.node = object{"id": strings.ReplaceAll(gateway, "/", "-"), "cluster": gateway}
	folder, err := os.MkdirTemp("", "xds-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := b.serveFrom(folder); err != nil {
		return nil, err
	}
	e, err := tryEnvoy(ctx, b)
	if err != nil {
		return nil, err
	}
	defer e.stop()
	answer, err := http.Get("http://" + e.admin + "/config_dump")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// serveFrom writes listeners, route configurations and clusters into files that Envoy reads them from, in the place of the bootstrap.
func (b *bootstrap) serveFrom(folder string) error {
	write := func(name, kind string, all ...object) (object, error) {
		var typed []object
		for _, o := range all {
			one := object{"@type": "type.googleapis.com/envoy.config." + kind}
			for key, value := range o {
				one[key] = value
			}
			typed = append(typed, one)
		}
		text, err := json.Marshal(object{"version_info": "1", "resources": typed})
		text = bytes.ReplaceAll(text, []byte(logPlace), []byte(os.DevNull))
		path := filepath.Join(folder, name+".json")
		return object{"path_config_source": object{"path": path}, "resource_api_version": "V3"}, errors.Join(err, os.WriteFile(path, text, 0o600))
	}
	tables := 0
	for _, l := range b.Listeners {
		err := eachManager(l, func(manager object) error {
			table, _ := manager["routeConfig"].(object)
			if table == nil || manager["rds"] != nil {
				return nil
			}
			tables++
			source, err := write(fmt.Sprintf("routes-%d", tables), "route.v3.RouteConfiguration", table)
			delete(manager, "routeConfig")
			manager["rds"] = object{"config_source": source, "route_config_name": table["name"]}
			return err
		})
		if err != nil {
			return err
		}
	}
	listeners, err := write("listeners", "listener.v3.Listener", b.Listeners...)
	if err != nil {
		return err
	}
	clusters, err := write("clusters", "cluster.v3.Cluster", b.Clusters...)
	b.dynamic = object{"lds_config": listeners, "cds_config": clusters}
	return err
}
