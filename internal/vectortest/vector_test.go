// Package vectortest holds the semantic vectors under testdata/vendors against the program's public
// JSON.
package vectortest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const root = "../../testdata/vendors"

type vector struct {
	Clause   string         `yaml:"clause"`
	Proves   string         `yaml:"proves"`
	Bug      string         `yaml:"bug"`
	Base     string         `yaml:"base"`
	Settings map[string]any `yaml:"settings"`
	Versions []string       `yaml:"versions"` // of vendors whose schemas are used, as VENDOR=VERSION
	Validate string         `yaml:"validate"` // warn: fields that the API server does not know are dropped
	Schemas  string         `yaml:"schemas"`  // off: some objects are what no API server takes
	Complete bool           `yaml:"complete"` // the manifests are all there is
	Expect   []expectation  `yaml:"expect"`
	Status   []condition    `yaml:"status"`
	Problems []problem      `yaml:"problems"`

	Connections []connection `yaml:"connections"`

	Protection []protection `yaml:"protection"`
}

type expectation struct {
	PolicyKind string              `yaml:"policyKind"`
	Target     map[string]string   `yaml:"target"`
	Via        map[string]any      `yaml:"via"`
	Spec       any                 `yaml:"spec"`
	Sources    map[string][]string `yaml:"sources"`
	Lost       []loss              `yaml:"lost"`
	Roles      map[string]string   `yaml:"roles"`
	None       bool                `yaml:"none"`
	Profile    string              `yaml:"profile"`
}

type loss struct {
	Rule   string `yaml:"rule"`
	Policy string `yaml:"policy"`
	Reason string `yaml:"reason"`
}

type problem struct {
	Code     string   `yaml:"code"`
	Ref      string   `yaml:"ref"`
	Absent   bool     `yaml:"absent"`
	Messages []string `yaml:"messages"`
}

// report collects what is wrong with the answers to one vector.
type report struct{ failures []string }

func (r *report) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		name, _ := filepath.Rel(root, file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) { check(t, file) })
	}
}

// check holds one vector against the answers. One that names a bug must fail, and is skipped: it
// becomes a test when the bug is gone.
func check(t *testing.T, file string) {
	v, manifests := read(t, file)
	var r report
	if len(v.Expect) > 0 {
		var list effective.EffectivePolicyList
		v.ask(t, file, manifests, &list, "effective", "-A", "--show-none")
		for _, e := range v.Expect {
			e.check(t, &r, list.Items)
		}
		checkProblems(&r, "effective", v.Problems, list.Problems)
	}
	if len(v.Status) > 0 {
		var list status.StatusList
		v.ask(t, file, manifests, &list, "status", "-A")
		checkShape(&r, list.Items)
		for _, c := range v.Status {
			c.check(t, &r, list.Items)
		}
		checkProblems(&r, "status", v.Problems, list.Problems)
	}
	if len(v.Protection) > 0 {
		v.checkProtection(t, &r, file, manifests)
	}
	for _, c := range v.Connections {
		var answer requests.ConnectionAnswer
		v.ask(t, file, manifests, &answer, c.args()...)
		c.check(&r, &answer)
	}
	switch {
	case v.Bug != "" && len(r.failures) == 0:
		t.Errorf("the vector passes: take out its field bug (%s)", v.Bug)
	case v.Bug != "":
		t.Skipf("bug: %s\n%s", v.Bug, strings.Join(r.failures, "\n"))
	}
	for _, f := range r.failures {
		t.Error(f)
	}
}

// ask runs a command over the vector's manifests and reads its JSON.
func (v vector) ask(t *testing.T, file string, manifests []byte, into any, args ...string) {
	t.Helper()
	args = append(args, "-o", "json", "-f", "-")
	if v.Base != "" {
		args = append(args, "-f", filepath.Join(filepath.Dir(file), v.Base))
	}
	for name, value := range v.Settings {
		args = append(args, "--vendor-setting", fmt.Sprintf("%s=%v", name, value))
	}
	for _, version := range v.Versions {
		args = append(args, "--vendor-version", version)
	}
	if v.Validate != "" {
		args = append(args, "--validate", v.Validate)
	}
	if v.Schemas != "" {
		args = append(args, "--schemas", v.Schemas)
	}
	if v.Complete {
		args = append(args, "--complete")
	}
	var out, errs bytes.Buffer
	app := cli.App{Plugins: plugins.All()}
	if code := app.Run(context.Background(), args, cli.Streams{In: bytes.NewReader(manifests), Out: &out, Err: &errs,
		LookupEnv: os.LookupEnv}); code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

// eachVector runs a test over the input of every vector, with its vendor settings.
func eachVector(t *testing.T, test func(t *testing.T, o load.Options, settings []string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		name, _ := filepath.Rel(root, file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			v, manifests := read(t, file)
			o := load.Options{Paths: []string{"-"}, Stdin: bytes.NewReader(manifests)}
			if v.Base != "" {
				o.Paths = append(o.Paths, filepath.Join(filepath.Dir(file), v.Base))
			}
			var settings []string
			for name, value := range v.Settings {
				settings = append(settings, fmt.Sprintf("%s=%v", name, value))
			}
			test(t, o, settings)
		})
	}
}

// eachInput does so for every vector and for the demos.
func eachInput(t *testing.T, test func(t *testing.T, o load.Options, settings []string)) {
	t.Helper()
	eachVector(t, test)
	demos, err := filepath.Glob("../../testdata/vendors-demo/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, demo := range append(demos, "../../testdata/demo", "../../testdata/demo-rfc0009") {
		t.Run(filepath.Base(demo), func(t *testing.T) { test(t, load.Options{Paths: []string{demo}}, nil) })
	}
}

// loaded reads an input, and what all vendors know with some settings.
func loaded(t *testing.T, o load.Options, settings []string) (*model.Snapshot, *descriptor.Catalog) {
	t.Helper()
	in, err := load.Files(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return in, catalogWith(t, settings)
}

// catalogs are those that catalogWith made, by their settings: a run asks many clusters with one,
// too.
var catalogs sync.Map

// catalogWith is the catalogue as commands read it.
func catalogWith(t *testing.T, settings []string) *descriptor.Catalog {
	t.Helper()
	made, _ := catalogs.LoadOrStore(strings.Join(settings, "\n"), sync.OnceValues(func() (*descriptor.Catalog, error) {
		return plugin.NewCatalog(plugins.All(), nil, settings)
	}))
	catalog, err := made.(func() (*descriptor.Catalog, error))()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// read splits a vector from its manifests.
func read(t *testing.T, file string) (v vector, manifests []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	dec := yaml.NewDecoder(bytes.NewReader(head))
	dec.KnownFields(true)
	var raw struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		vector     `yaml:",inline"`
	}
	if err := dec.Decode(&raw); err != nil || raw.Kind != "Vector" || raw.Clause == "" || raw.Proves == "" ||
		len(raw.Expect)+len(raw.Status)+len(raw.Connections)+len(raw.Protection) == 0 {
		t.Fatalf("%s does not start with a Vector that names its clause, what it proves and what it expects: %v", file,
			err)
	}
	return raw.vector, rest
}

func (e expectation) fits(item view.EffectivePolicy) bool {
	r := item.Target
	have := map[string]string{"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name,
		"section": r.Section}
	for key, want := range e.Target {
		if have[key] != want {
			return false
		}
	}
	if item.PolicyKind != e.PolicyKind || e.Target["section"] == "" && r.Section != "" {
		return false
	}
	if e.Via == nil {
		return true
	}
	return slices.ContainsFunc(item.Paths, func(p view.Path) bool {
		have := map[string]string{"gatewayClass": p.GatewayClass, "gateway": p.Gateway, "listenerSet": p.ListenerSet,
			"listener":    p.Listener,
			"destination": p.Destination, "direction": p.Direction, "mesh": p.Mesh, "dataplane": p.Dataplane,
			"hostname": p.Hostname, "binding": p.Binding, "route": p.Route,
			"delegatedFrom": fmt.Sprint(p.DelegatedFrom), "delegatedRules": fmt.Sprint(p.DelegatedRules)}
		for key, want := range e.Via {
			if have[key] != fmt.Sprint(want) {
				return false
			}
		}
		return true
	})
}

func (e expectation) check(t *testing.T, r *report, items []view.EffectivePolicy) {
	t.Helper()
	where := fmt.Sprintf("%s on %v via %v", e.PolicyKind, e.Target, e.Via)
	var found []view.EffectivePolicy
	for _, item := range items {
		if e.fits(item) {
			found = append(found, item)
		}
	}
	if e.None && len(found) == 0 && e.Lost == nil {
		return
	}
	if len(found) != 1 {
		r.Errorf("%s: %d items fit, want one", where, len(found))
		return
	}
	item := found[0]
	if e.Profile != "" && item.Profile != e.Profile {
		r.Errorf("%s: profile %q, want %q", where, item.Profile, e.Profile)
	}
	if e.None {
		if item.Spec != nil || len(item.Rules) > 0 {
			r.Errorf("%s: in force: %v", where, item.Spec)
		}
		if e.Lost != nil {
			e.checkLost(r, where, item)
		}
		return
	}
	if want := normal(t, e.Spec); !reflect.DeepEqual(want, item.Spec) {
		r.Errorf("%s:\n spec %v\n want %v", where, item.Spec, want)
	}
	sources := map[string][]string{}
	for _, rule := range item.Rules {
		for _, s := range rule.Sources {
			name := s.Builtin
			if s.Policy != nil {
				name = s.Policy.FullName()
			}
			sources[rule.Name] = append(sources[rule.Name], name)
		}
	}
	if !reflect.DeepEqual(sources, e.Sources) {
		r.Errorf("%s:\n sources %v\n    want %v", where, sources, e.Sources)
	}
	if e.Roles != nil {
		roles := map[string]string{}
		for _, use := range item.Policies {
			if use.Policy != nil {
				roles[use.Policy.FullName()] = use.Role
			}
		}
		if !reflect.DeepEqual(roles, e.Roles) {
			r.Errorf("%s:\n roles %v\n  want %v", where, roles, e.Roles)
		}
	}
	e.checkLost(r, where, item)
}

func (e expectation) checkLost(r *report, where string, item view.EffectivePolicy) {
	var got, want []string
	for _, rule := range item.Rules {
		for _, l := range rule.Lost {
			got = append(got, fmt.Sprint(loss{rule.Name, l.Policy.FullName(), l.Reason}))
		}
	}
	for _, l := range item.Lost {
		got = append(got, fmt.Sprint(loss{l.Rule, l.Policy.FullName(), l.Reason}))
	}
	for _, l := range e.Lost {
		want = append(want, fmt.Sprint(l))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		r.Errorf("%s:\n lost %v\n want %v", where, got, want)
	}
}

func checkProblems(r *report, command string, want []problem, have []model.Problem) {
	listed := map[string]bool{}
	for _, p := range want {
		listed[p.Code] = true
		var found []string
		for _, got := range have {
			if string(got.Code) == p.Code && (p.Ref == "" || got.Ref != nil && got.Ref.FullName() == p.Ref) {
				found = append(found, got.Message)
			}
		}
		if len(found) == 0 != p.Absent {
			r.Errorf("%s: problem %+v: reported %v; problems are %v", command, p, len(found) > 0, have)
		}
		if p.Messages != nil && !contain(found, p.Messages) {
			r.Errorf("%s: problem %s about %s:\n messages %q\n     want %q", command, p.Code, p.Ref, found, p.Messages)
		}
	}
	for _, got := range have {
		if got.Severity == "error" && !listed[string(got.Code)] {
			r.Errorf("%s: unexpected error %s: %s", command, got.Code, got.Message)
		}
	}
}

// contain reports whether texts and parts can be paired, each text with one part that it contains.
func contain(texts, parts []string) bool {
	left := slices.Clone(parts)
	for _, text := range texts {
		at := slices.IndexFunc(left, func(part string) bool { return strings.Contains(text, part) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return len(left) == 0
}

// normal is a YAML value as it is after a trip through JSON.
func normal(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// condition is what a vector expects of the status of one object towards one ancestor.
type condition struct {
	Object     map[string]string   `yaml:"object"`
	Ancestor   map[string]string   `yaml:"ancestor"`
	Controller *string             `yaml:"controller"`
	None       bool                `yaml:"none"`
	Refused    bool                `yaml:"refused"`
	Conditions []wanted            `yaml:"conditions"`
	Absent     []string            `yaml:"absent"`
	Marks      map[string][]string `yaml:"marks"`
	Affected   []string            `yaml:"affected"`

	AttachedRoutes *int     `yaml:"attachedRoutes"`
	SupportedKinds []string `yaml:"supportedKinds"`

	AttachedListenerSets *int `yaml:"attachedListenerSets"`

	Fields any `yaml:"fields"`
}

// wanted is one condition. Says are texts that the message must hold; the message is compared as a
// whole if it is given.
type wanted struct {
	status.Condition `yaml:",inline"`
	Says             []string `yaml:"says"`
}

// names reports whether r, with a port, is what the keys say; section and port are those of the
// object itself if they are left out.
func names(want map[string]string, r model.Ref, port int32) bool {
	have := map[string]string{"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name,
		"section": r.Section}
	if port != 0 {
		have["port"] = fmt.Sprint(port)
	}
	for key, value := range want {
		if have[key] != value {
			return false
		}
	}
	return want["section"] == have["section"] && want["port"] == have["port"]
}

func (c condition) check(t *testing.T, r *report, items []status.ObjectStatus) {
	where := fmt.Sprintf("status of %v towards %v", c.Object, c.Ancestor)
	var found []status.ObjectStatus
	for _, item := range items {
		if names(c.Object, item.Object, 0) {
			found = append(found, item)
		}
	}
	if c.Refused {
		if len(found) > 0 {
			r.Errorf("%s: %d items are about it, want none", where, len(found))
		}
		return
	}
	if len(found) != 1 {
		r.Errorf("%s: %d items fit, want one", where, len(found))
		return
	}
	item := found[0]
	if c.None {
		if len(item.Ancestors) > 0 {
			r.Errorf("%s: has conditions: %+v", where, item.Ancestors)
		}
	} else {
		c.checkEntries(r, where, item)
	}
	if want := normal(t, c.Fields); c.Fields != nil && !reflect.DeepEqual(want, item.Status) {
		r.Errorf("%s: status %v\n want %v", where, item.Status, want)
	}
	if c.Affected != nil {
		got := []string{}
		for _, ref := range item.Affected {
			name := ref.Kind + " " + ref.FullName()
			if ref.Section != "" {
				name += "/" + ref.Section
			}
			got = append(got, name)
		}
		sameSet(r, where+": affected", got, c.Affected)
	}
	if c.AttachedRoutes != nil && (item.AttachedRoutes == nil || *item.AttachedRoutes != *c.AttachedRoutes) {
		r.Errorf("%s: attachedRoutes %v, want %d", where, item.AttachedRoutes, *c.AttachedRoutes)
	}
	if c.AttachedListenerSets != nil && (item.AttachedListenerSets == nil ||
		*item.AttachedListenerSets != *c.AttachedListenerSets) {
		r.Errorf("%s: attachedListenerSets %v, want %d", where, item.AttachedListenerSets, *c.AttachedListenerSets)
	}
	if c.SupportedKinds != nil {
		if item.SupportedKinds == nil {
			r.Errorf("%s: no supportedKinds", where)
		}
		sameSet(r, where+": supportedKinds", item.SupportedKinds, c.SupportedKinds)
	}
}

func sameSet(r *report, what string, got, want []string) {
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		r.Errorf("%s %q\n want %q", what, got, want)
	}
}

// checkEntries checks the conditions towards the ancestor, those of all controllers together unless
// one is named.
func (c condition) checkEntries(r *report, where string, item status.ObjectStatus) {
	var have []status.Condition
	entries := 0
	for _, a := range item.Ancestors {
		own := a.AncestorRef == nil
		if own != (c.Ancestor == nil) || !own && !names(c.Ancestor, a.AncestorRef.Ref, a.AncestorRef.Port) ||
			c.Controller != nil && *c.Controller != a.ControllerName {
			continue
		}
		entries++
		have = append(have, a.Conditions...)
	}
	if entries == 0 {
		r.Errorf("%s: no such entry in %+v", where, item.Ancestors)
		return
	}
	for _, want := range c.Conditions {
		at := slices.IndexFunc(have, func(got status.Condition) bool { return got.Type == want.Type })
		if at < 0 {
			r.Errorf("%s: no condition %s in %+v", where, want.Type, have)
			continue
		}
		got := have[at]
		silent := slices.ContainsFunc(want.Says,
			func(text string) bool { return !strings.Contains(have[at].Message, text) })
		if want.Message == "" {
			got.Message = ""
		}
		if got != want.Condition || silent {
			r.Errorf("%s:\n condition %+v\n      want %+v", where, have[at], want)
		}
	}
	for _, got := range have {
		if slices.Contains(c.Absent, got.Type) {
			r.Errorf("%s: unwanted condition %+v", where, got)
		}
	}
	if c.Marks != nil {
		c.checkMarks(r, where, have)
	}
}

// checkMarks compares all marks: conditions with a type …Affected, which name the policies between
// brackets at the end.
func (c condition) checkMarks(r *report, where string, have []status.Condition) {
	got := map[string][]string{}
	for _, h := range have {
		if !strings.HasSuffix(h.Type, "Affected") {
			continue
		}
		_, names, _ := strings.Cut(strings.TrimSuffix(h.Message, "]"), "[")
		got[h.Type] = strings.Fields(names)
		if h.Status != "True" {
			r.Errorf("%s: mark %+v is not True", where, h)
		}
	}
	if !reflect.DeepEqual(got, c.Marks) {
		r.Errorf("%s:\n marks %v\n want  %v", where, got, c.Marks)
	}
}

// checkShape checks what holds for every answer of `status`.
func checkShape(r *report, items []status.ObjectStatus) {
	objects := map[model.Ref]bool{}
	for _, item := range items {
		if objects[item.Object] {
			r.Errorf("%s has two items", item.Object)
		}
		objects[item.Object] = true
		type key struct {
			ancestor   status.AncestorRef
			controller string
		}
		entries := map[key]bool{}
		for _, a := range item.Ancestors {
			entry := key{controller: a.ControllerName}
			if a.AncestorRef != nil {
				entry.ancestor = *a.AncestorRef
			}
			if entries[entry] {
				r.Errorf("%s has two entries for %+v", item.Object, entry)
			}
			entries[entry] = true
			types := map[string]bool{}
			for _, c := range a.Conditions {
				if types[c.Type] || c.Reason == "" || c.Message == "" || wordPlace(item.Object) == nil &&
					!slices.Contains([]string{"True", "False", "Unknown"}, c.Status) {
					r.Errorf("%s: condition %+v is twice there, or no condition", item.Object, c)
				}
				types[c.Type] = true
			}
		}
	}
}
