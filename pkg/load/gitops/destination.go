package gitops

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ownCluster is how Argo CD calls the cluster that it runs in; Flux has no name for its own.
const (
	ownCluster = "in-cluster"
	ownServer  = "https://kubernetes.default.svc"
)

const destinationHint = "--destination CLUSTER reads one of them"

// destinationCluster returns the cluster that a source deploys to: its name, else its address. For
// Flux it is called after the object with its kubeconfig.
func (l *gitopsSource) destinationCluster() string {
	switch {
	case l.kind == argoApplication:
		to := strings.TrimSuffix(cmp.Or(l.textAt("spec", "destination", "name"), l.textAt("spec", "destination",
			"server")), "/")
		return normalizeDestination(cmp.Or(to, ownServer))
	case l.isRemote():
		at := []string{"spec", "kubeConfig"}
		return cmp.Or(l.textAt(append(at, "secretRef", "name")...), l.textAt(append(at, "configMapRef", "name")...))
	}
	return cmp.Or(l.cluster, ownCluster)
}

// isRemote reports whether Flux deploys what a source names to another cluster than that of the
// source.
func (l *gitopsSource) isRemote() bool { return model.Get(l.value, "spec", "kubeConfig") != nil }

func normalizeDestination(name string) string {
	if name == ownServer {
		return ownCluster
	}
	return name
}

// destinations are the clusters that an input is for.
type destinations struct {
	chosen   string // the only one to read; "": all
	clusters map[string]bool
	deployed []deployedRange
	// documents that are for another cluster than the chosen one, by their index among those that
	// were read
	aside map[int]bool
}

// deployedRange is the documents that a source deploys: those from one index of what is read up to
// another.
type deployedRange struct {
	source   *gitopsSource
	from, to int
}

// isSkipped reports whether nothing is read of what a source leads to, because it is for another
// cluster than the chosen one. What is for the cluster of the tools themselves is read all the
// same: it may lead to more.
func (d *destinations) isSkipped(l *gitopsSource) bool {
	if l.kind == argoApplicationSet {
		return false
	}
	to := l.destinationCluster()
	if d.clusters == nil {
		d.clusters = map[string]bool{}
	}
	d.clusters[to] = true
	return d.chosen != "" && to != d.chosen && (to != ownCluster || l.kind == helmRelease)
}

// isElsewhere reports whether what a source deploys is only looked at for what it leads to.
func (d *destinations) isElsewhere(by *gitopsSource) bool {
	return by != nil && d.chosen != "" && by.destinationCluster() != d.chosen
}

// withoutAside returns the documents but for those that are for another cluster than the chosen
// one.
func (d *destinations) withoutAside(documents []document.Raw) []document.Raw {
	var out []document.Raw
	for i, p := range documents {
		if !d.aside[i] {
			out = append(out, p)
		}
	}
	return out
}

// checkChosen returns an error where nothing is deployed to the chosen cluster. Clusters are called
// by their names, and some by their folders.
func (d *destinations) checkChosen(folders []string) error {
	if d.chosen == "" || d.clusters[d.chosen] {
		return nil
	}
	hint := "no Application and no Kustomization of the input names a cluster"
	if names := append(slices.Sorted(maps.Keys(d.clusters)), folders...); len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ")
	}
	return &document.Error{What: "destination " + d.chosen, Err: fmt.Errorf("nothing that is read deploys there"),
		Hint: hint}
}

// severalClustersProblem returns the problem that objects of several clusters are read as one; nil
// if they are of one. What brings nothing but other sources is of none.
func (d *destinations) severalClustersProblem(in *manifestIndex) *model.Problem {
	all := map[string]bool{}
	for _, s := range d.deployed {
		all[s.source.destinationCluster()] = true
	}
	if len(all) < 2 {
		return nil
	}
	of := map[string][]string{}
	var first *model.Origin
	for _, s := range d.deployed {
		to, name := s.source.destinationCluster(), s.source.namespace+"/"+s.source.name
		if slices.Contains(of[to], name) || !slices.ContainsFunc(in.documents[s.from:s.to], in.hasOtherObjects) {
			continue
		}
		of[to] = append(of[to], name)
		if first == nil || s.source.origin.Compare(*first) < 0 {
			first = &s.source.origin
		}
	}
	if len(of) < 2 {
		return nil
	}
	var clusters []string
	for _, to := range slices.Sorted(maps.Keys(of)) {
		clusters = append(clusters, to+" ("+shortenNames(of[to])+")")
	}
	message := fmt.Sprintf("Applications for %d clusters are read as if they were for one: %s", len(of),
		strings.Join(clusters, ", "))
	if n := d.keepFirstCluster(in); n > 0 {
		message += ". What several of them have is read as the first has it: " + countObjects(n)
	}
	return &model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Origin: first, Hint: destinationHint,
		Message: message}
}

// countObjects is how messages count objects.
func countObjects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// keepFirstCluster leaves out the documents of objects that a cluster before theirs has too. It
// returns how many objects several clusters have.
func (d *destinations) keepFirstCluster(in *manifestIndex) int {
	ranges := slices.Clone(d.deployed)
	slices.SortStableFunc(ranges, func(a, b deployedRange) int {
		return strings.Compare(a.source.destinationCluster(), b.source.destinationCluster())
	})
	firstOf := map[string]string{} // the first cluster that has an object
	several := map[string]bool{}
	for _, s := range ranges {
		cluster := s.source.destinationCluster()
		for i := s.from; i < s.to; i++ {
			var kept []document.Raw
			pieces := splitAgain(in.documents[i])
			for _, p := range pieces {
				isElsewhere := false
				for _, id := range in.objectIDs(p) {
					switch first, known := firstOf[id]; {
					case !known:
						firstOf[id] = cluster
					case first != cluster:
						several[id], isElsewhere = true, true
					}
				}
				if !isElsewhere {
					kept = append(kept, p)
				}
			}
			if len(kept) < len(pieces) {
				d.aside[i] = true
				in.documents = append(in.documents, kept...)
			}
		}
	}
	return len(several)
}

// splitAgain returns each document of what was read together.
func splitAgain(p document.Raw) []document.Raw {
	if p.IsStream {
		return []document.Raw{p}
	}
	pieces := document.Split(p.File, p.Text)
	for i := range pieces {
		pieces[i].Line += p.Line - 1
		pieces[i].Namespace, pieces[i].RealPath = p.Namespace, p.RealPath
	}
	return pieces
}

// objectIDs names the objects of a document.
func (r *manifestIndex) objectIDs(p document.Raw) []string {
	objects, _ := document.ListObjects(p.Text, r.limits)
	var out []string
	for _, o := range objects {
		group, _, _ := strings.Cut(model.Text(o.Value, "apiVersion"), "/")
		out = append(out, group+" "+model.Text(o.Value, "kind")+" "+r.fullNameOf(p, o.Value))
	}
	return out
}

// shortenNames lists the first of names.
func shortenNames(names []string) string {
	slices.Sort(names)
	var shown model.Tally
	for _, name := range names {
		shown.Add(name)
	}
	return shown.String()
}

// hasOtherObjects reports whether a document holds an object that is not about what is deployed
// from where.
func (r *manifestIndex) hasOtherObjects(p document.Raw) bool {
	if !mayNameSource(p.Text) {
		return true
	}
	objects, failed := document.ListObjects(p.Text, r.limits)
	return failed != nil || slices.ContainsFunc(objects, func(o document.ListedObject) bool {
		group, _, _ := strings.Cut(model.Text(o.Value, "apiVersion"), "/")
		return group != "argoproj.io" && !strings.HasSuffix(group, ".toolkit.fluxcd.io")
	})
}
