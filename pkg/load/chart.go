package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What rendering one chart may take.
const (
	maxChartBytes    = 64 << 20 // bytes of its files
	maxRenderedBytes = 64 << 20 // bytes of what it makes
	maxChartTime     = time.Minute
)

// Hints for what is not rendered.
const (
	notEnabled = "charts are rendered only if that is asked for"
	renderHint = "render it where it is deployed, and read the result too"
	helmHint   = "--enable-helm has the helm program render it"
)

// chart is a folder with a Chart.yaml.
type chart struct {
	dir     filesys.ConfirmedDir
	name    string
	reached bool
}

// String is how problems call a chart.
func (c *chart) String() string { return "chart " + c.name }

// chartRenderer renders charts with the helm program. It gets a copy of the chart, an empty home
// without plugins, and no cluster; a chart whose parts would have to be fetched is an error.
type chartRenderer struct {
	program  string
	rendered map[string][]byte // what was rendered, by all that it depends on
}

// newChartRenderer finds the helm program. It is nil if there is none, or if it may not be run.
func newChartRenderer(allowed bool) *chartRenderer {
	if !allowed {
		return nil
	}
	program, err := exec.LookPath("helm")
	if err != nil {
		return nil
	}
	return &chartRenderer{program: program, rendered: map[string][]byte{}}
}

// chartInputs are what a chart is rendered with.
type chartInputs struct {
	dir                filesys.ConfirmedDir
	release, namespace string
	values             [][]byte // YAML, later ones win
	withoutDefaults    bool     // without the values of the chart itself
	setOptions         []string // options
	includeCRDs        bool
}

// renderChart returns the manifests that a chart makes.
func (c *chartRenderer) renderChart(ctx context.Context, what chartInputs) ([]byte, error) {
	if strings.HasPrefix(what.release, "-") || strings.HasPrefix(what.namespace, "-") {
		return nil, errors.New("the name of the release is none")
	}
	key := fmt.Sprintf("%#v", what)
	if text, known := c.rendered[key]; known {
		return text, nil
	}
	home, err := os.MkdirTemp("", "dopolicy-chart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	at := filepath.Join(home, "chart")
	if err := copyChart(what.dir.String(), at, what.withoutDefaults); err != nil {
		return nil, err
	}
	args := []string{"template", what.release, at, "--namespace", what.namespace}
	for i, values := range what.values {
		file := filepath.Join(home, fmt.Sprintf("values-%d.yaml", i))
		if err := os.WriteFile(file, values, 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--values", file)
	}
	if what.includeCRDs {
		args = append(args, "--include-crds")
	}
	text, err := c.runHelm(ctx, home, append(args, what.setOptions...))
	if err == nil {
		c.rendered[key] = text
	}
	return text, err
}

// runHelm runs the program, with a time limit.
func (c *chartRenderer) runHelm(ctx context.Context, home string, args []string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, maxChartTime)
	defer stop()
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.WaitDelay = home, time.Second
	none := filepath.Join(home, "none")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "KUBECONFIG=" + none, "HELM_NO_PLUGINS=1", "HELM_PLUGINS=" + none,
		"HELM_CONFIG_HOME=" + none, "HELM_CACHE_HOME=" + none, "HELM_DATA_HOME=" + none, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	out, words := document.NewBoundedBuffer(maxRenderedBytes), document.NewBoundedBuffer(64<<10)
	cmd.Stdout, cmd.Stderr = out, words
	err := cmd.Run()
	switch {
	case out.IsExceeded():
		return nil, fmt.Errorf("it makes more than %d bytes", maxRenderedBytes)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("helm does not end within %s", maxChartTime)
	case err != nil:
		return nil, shortenError(errors.New("helm says: " + strings.ReplaceAll(document.ProgramFailure(words.String(), err), home+string(filepath.Separator), "")))
	}
	return out.Bytes(), nil
}

// copyChart copies the regular files of a chart. Links are left out: they could lead anywhere.
func copyChart(from, to string, bare bool) error {
	left := int64(maxChartBytes)
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return document.CauseOf(err)
		}
		below, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		at := filepath.Join(to, below)
		switch {
		case e.IsDir():
			return os.MkdirAll(at, 0o700)
		case !e.Type().IsRegular(), bare && below == "values.yaml":
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return document.CauseOf(err)
		}
		if left -= info.Size(); left < 0 {
			return fmt.Errorf("the chart is larger than %d bytes", maxChartBytes)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return document.CauseOf(err)
		}
		return os.WriteFile(at, text, 0o600)
	})
}

// addChart adds what a chart makes. A chart that is not rendered is told.
func (r *renderer) addChart(ctx context.Context, by fmt.Stringer, name, namespace string, what chartInputs) error {
	if c := r.chartsByPath[what.dir.String()]; c != nil {
		c.reached = true
	}
	if r.walk.charts == nil {
		r.addOmittedChart(by)
		return nil
	}
	what.namespace = namespace
	start := time.Now()
	text, err := r.walk.charts.renderChart(ctx, what)
	r.buildTime += time.Since(start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var pieces []rawDocument
	if err == nil {
		pieces, err = r.splitChartOutput(name, text)
	}
	if err != nil {
		origin := &model.Origin{File: name}
		if l, ok := by.(*gitopsSource); ok {
			origin = &l.origin
		}
		r.reader.problems = append(r.reader.problems, model.Problem{Severity: model.Error, Code: model.NotEvaluated, Origin: origin,
			Message: fmt.Sprintf("%s: the chart in %s is not rendered: %s", by, name, err), Hint: renderHint})
		return nil
	}
	for i := range pieces {
		pieces[i].namespace = namespace
	}
	l, _ := by.(*gitopsSource)
	r.addDocuments(pieces, l)
	return nil
}

// addOmittedChart notes that a chart is not rendered because helm does not run.
func (r *renderer) addOmittedChart(by fmt.Stringer) {
	why, hint := notEnabled, helmHint
	if r.options.Helm {
		why, hint = "there is no helm program", "install helm, or "+renderHint
	}
	if l, ok := by.(*gitopsSource); ok {
		r.addOmitted(l, why, hint)
		return
	}
	r.addOmission(omission{kind: "chart", why: why, hint: hint}, by)
}

// splitChartOutput returns the documents that a chart made, each from the template that it names.
func (r *workspace) splitChartOutput(name string, text []byte) ([]rawDocument, error) {
	var out []rawDocument
	for _, p := range splitText(sourceFile{}, text) {
		file := name
		if _, after, found := bytes.Cut(p.text, []byte("# Source: ")); found {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			if _, below, found := strings.Cut(strings.TrimSpace(string(line)), "/"); found {
				file = path.Join(name, below)
			}
		}
		docs, failed := parseManifests(p.text, r.walk.limits)
		if failed != nil {
			return nil, fmt.Errorf("%s: %s", file, failed.message)
		}
		for _, doc := range docs {
			if doc.value == nil {
				continue
			}
			one, err := json.Marshal(doc.value)
			if err != nil {
				return nil, err
			}
			out = append(out, rawDocument{file: sourceFile{name: file, named: true}, text: one, isStream: true})
		}
	}
	return out, nil
}

// renderUnreachedCharts renders the charts that nothing leads to, as they are.
func (r *renderer) renderUnreachedCharts(ctx context.Context) error {
	for _, dir := range slices.Sorted(maps.Keys(r.chartsByPath)) {
		c := r.chartsByPath[dir]
		if c.reached || r.targetFolders.hasFolder(dir) {
			continue
		}
		about, _ := r.readChartFile(ctx, c)
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
		if err := r.addChart(ctx, c, c.name, namespace, chartInputs{dir: c.dir, release: release, includeCRDs: true}); err != nil {
			return err
		}
	}
	return nil
}

// readChartFile returns what the Chart.yaml of a chart says.
func (r *workspace) readChartFile(ctx context.Context, c *chart) (any, error) {
	docs, err := r.walk.readManifests(ctx, fileLocation{dir: c.dir, file: "Chart.yaml", name: c.name + "/Chart.yaml"})
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0].value, nil
}
