package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// chart is a folder with a Chart.yaml.
type chart struct {
	dir     filesys.ConfirmedDir
	name    string
	reached bool
}

// String is how problems call a chart.
func (c *chart) String() string { return "chart " + c.name }

// targetNamespace is not known: whoever installs a chart chooses it.
func (c *chart) targetNamespace() string { return "" }

// addChart adds what a chart makes. A chart that is not rendered is told.
func (r *renderer) addChart(ctx context.Context, by deployer, name, namespace string, what helm.Release) error {
	if c := r.workspace.chartsByPath[what.Dir.String()]; c != nil {
		c.reached = true
	}
	if r.charts == nil {
		r.addOmittedChart(by)
		return nil
	}
	what.Namespace = namespace
	start := time.Now()
	text, err := r.charts.Render(ctx, what)
	r.buildTime += time.Since(start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var pieces []document.Raw
	if err != nil {
		err = kustomize.ShortenError(err)
	} else {
		pieces, err = r.workspace.splitChartOutput(name, text)
	}
	if err != nil {
		origin := &model.Origin{File: name}
		if l, ok := by.(*gitopsSource); ok {
			origin = &l.origin
		}
		r.reader.Problems = append(r.reader.Problems, model.Problem{Severity: model.Error, Code: model.NotEvaluated,
			Origin:  origin,
			Message: fmt.Sprintf("%s: the chart in %s is not rendered: %s", by, name, err), Hint: helm.RenderHint})
		r.reader.AddOmission(by.String(), "is not rendered: "+err.Error(), by.targetNamespace())
		return nil
	}
	for i := range pieces {
		pieces[i].Namespace = namespace
	}
	l, _ := by.(*gitopsSource)
	r.addDocuments(pieces, l)
	return nil
}

// addOmittedChart notes that a chart is not rendered because helm does not run.
func (r *renderer) addOmittedChart(by deployer) {
	why, hint := helm.NotEnabled, helm.EnableHint
	if r.options.Helm {
		why, hint = "there is no helm program", "install helm, or "+helm.RenderHint
	}
	if l, ok := by.(*gitopsSource); ok {
		r.omissions.addOmitted(l, why, hint)
		return
	}
	r.omissions.addOmission(omission{kind: "chart", why: why, hint: hint}, by)
}

// splitChartOutput returns the documents that a chart made, each from the template that it names.
func (r *workspace) splitChartOutput(name string, text []byte) ([]document.Raw, error) {
	var out []document.Raw
	for _, p := range document.Split(document.File{}, text) {
		file := name
		if _, after, found := bytes.Cut(p.Text, []byte("# Source: ")); found {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			if _, below, found := strings.Cut(strings.TrimSpace(string(line)), "/"); found {
				file = path.Join(name, below)
			}
		}
		docs, failed := document.ParseManifests(p.Text, r.limits)
		if failed != nil {
			return nil, fmt.Errorf("%s: %s", file, failed.Message)
		}
		for _, doc := range docs {
			if doc.Value == nil {
				continue
			}
			one, err := json.Marshal(doc.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, document.Raw{File: document.File{Name: file, Named: true}, Text: one, IsStream: true})
		}
	}
	return out, nil
}

// renderUnreachedCharts renders the charts that nothing leads to, as they are.
func (r *renderer) renderUnreachedCharts(ctx context.Context) error {
	for _, dir := range slices.Sorted(maps.Keys(r.workspace.chartsByPath)) {
		c := r.workspace.chartsByPath[dir]
		if c.reached || r.targetFolders.hasFolder(dir) || r.isOfOtherCluster(dir) ||
			r.deployments.isLeftOut(filepath.Join(dir, "Chart.yaml")) {
			continue
		}
		about, _ := r.workspace.readChartFile(ctx, c)
		if model.Text(about, "type") == "library" {
			continue
		}
		release := model.Text(about, "name")
		if release == "" {
			release = path.Base(c.name)
		}
		namespace := r.options.Namespace
		if namespace == "" {
			namespace = "default"
		}
		if err := r.addChart(ctx, c, c.name, namespace, helm.Release{Dir: c.dir, Name: release,
			IncludeCRDs: true}); err != nil {
			return err
		}
	}
	return nil
}

// readChartFile returns what the Chart.yaml of a chart says.
func (r *workspace) readChartFile(ctx context.Context, c *chart) (any, error) {
	docs, err := r.walk.ReadManifests(ctx, kustomize.FileLocation{Dir: c.dir, File: "Chart.yaml",
		Name: c.name + "/Chart.yaml"})
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0].Value, nil
}
