package load

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ownCluster is how Argo CD calls the cluster that it runs in; Flux has no name for its own.
const (
	ownCluster = "in-cluster"
	ownServer  = "https://kubernetes.default.svc"
)

const destinationHint = "--destination CLUSTER reads one of them"

// destination is the cluster that a lead deploys to: its name, else its address. For Flux it is called after the object with its kubeconfig.
func (l *lead) destination() string {
	switch {
	case l.kind == argoApplication:
		to := strings.TrimSuffix(cmp.Or(l.text("spec", "destination", "name"), l.text("spec", "destination", "server")), "/")
		return plainDestination(cmp.Or(to, ownServer))
	case l.remote():
		at := []string{"spec", "kubeConfig"}
		return cmp.Or(l.text(append(at, "secretRef", "name")...), l.text(append(at, "configMapRef", "name")...))
	}
	return cmp.Or(l.into, ownCluster)
}

// remote reports whether Flux deploys a lead to another cluster than that of the lead.
func (l *lead) remote() bool { return model.Get(l.value, "spec", "kubeConfig") != nil }

func plainDestination(name string) string {
	if name == ownServer {
		return ownCluster
	}
	return name
}

// destinations are the clusters that an input is for.
type destinations struct {
	chosen string // the only one to read; "": all
	met    map[string]bool
	sent   []sending
}

// sending is documents that a lead deploys: those from one index of what is read up to another.
type sending struct {
	by       *lead
	from, to int
}

// skips reports whether nothing is read of what a lead leads to, because it is for another cluster than the chosen one. What is for the cluster
// of the tools themselves is read all the same: it may lead to more.
func (d *destinations) skips(l *lead) bool {
	if l.kind == argoApplicationSet {
		return false
	}
	to := l.destination()
	if d.met == nil {
		d.met = map[string]bool{}
	}
	d.met[to] = true
	return d.chosen != "" && to != d.chosen && (to != ownCluster || l.kind == helmRelease)
}

// aside reports whether what a lead deploys is only looked at for what it leads to.
func (d *destinations) aside(by *lead) bool {
	return by != nil && d.chosen != "" && by.destination() != d.chosen
}

// misnamed is the error where nothing is deployed to the chosen cluster; nil if something is.
func (d *destinations) misnamed() error {
	if d.chosen == "" || d.met[d.chosen] {
		return nil
	}
	hint := "no Application and no Kustomization of the input names a cluster"
	if len(d.met) > 0 {
		hint = "there are " + strings.Join(slices.Sorted(maps.Keys(d.met)), ", ")
	}
	return &Error{What: "destination " + d.chosen, Err: fmt.Errorf("nothing that is read deploys there"), Hint: hint}
}

// several is the problem that objects of several clusters are read as one; nil if they are of one. What brings nothing but other leads
// is of none.
func (d *destinations) several(in *known) *model.Problem {
	all := map[string]bool{}
	for _, s := range d.sent {
		all[s.by.destination()] = true
	}
	if len(all) < 2 {
		return nil
	}
	of := map[string][]string{}
	var first *model.Origin
	for _, s := range d.sent {
		to, name := s.by.destination(), s.by.namespace+"/"+s.by.name
		if slices.Contains(of[to], name) || !slices.ContainsFunc(in.pieces[s.from:s.to], in.more) {
			continue
		}
		of[to] = append(of[to], name)
		if first == nil || s.by.at.Compare(*first) < 0 {
			first = &s.by.at
		}
	}
	if len(of) < 2 {
		return nil
	}
	var clusters []string
	for _, to := range slices.Sorted(maps.Keys(of)) {
		clusters = append(clusters, to+" ("+few(of[to])+")")
	}
	return &model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Origin: first, Hint: destinationHint,
		Message: fmt.Sprintf("Applications for %d clusters are read as if they were for one: %s", len(of), strings.Join(clusters, ", "))}
}

// few are names, at most five of them.
func few(names []string) string {
	const most = 5
	slices.Sort(names)
	more := ""
	if n := len(names); n > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ") + more
}

// more reports whether a document holds an object that is not about what is deployed from where.
func (r *known) more(p piece) bool {
	if !bytes.Contains(p.text, []byte("argoproj.io/")) && !bytes.Contains(p.text, []byte("toolkit.fluxcd.io/")) {
		return true
	}
	docs, failed := r.reads.parse(p.text)
	if failed != nil {
		return true
	}
	for _, doc := range docs {
		for _, v := range items(doc.value) {
			group, _, _ := strings.Cut(model.Text(v, "apiVersion"), "/")
			if group != "argoproj.io" && !strings.HasSuffix(group, ".toolkit.fluxcd.io") {
				return true
			}
		}
	}
	return false
}
