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

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What rendering one chart may take.
const (
	maxChart     = 64 << 20 // bytes of its files
	maxRendered  = 64 << 20 // bytes of what it makes
	maxChartTime = time.Minute
)

// Hints for what is not rendered.
const (
	notAsked   = "charts are rendered only if that is asked for"
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

// charts renders charts with the helm program. It gets a copy of the chart, an empty home without plugins, and no cluster; a chart whose parts
// would have to be fetched is an error.
type charts struct {
	program string
	done    map[string][]byte // what was rendered, by all that it depends on
}

// newCharts finds the helm program. Without one, or where it may not be run, it is nil.
func newCharts(allowed bool) *charts {
	if !allowed {
		return nil
	}
	program, err := exec.LookPath("helm")
	if err != nil {
		return nil
	}
	return &charts{program: program, done: map[string][]byte{}}
}

// rendering is what a chart is rendered with.
type rendering struct {
	dir                filesys.ConfirmedDir
	release, namespace string
	values             [][]byte // YAML, later ones win
	bare               bool     // without the values of the chart itself
	sets               []string // options
	crds               bool
}

// render is the manifests that a chart makes.
func (c *charts) render(ctx context.Context, what rendering) ([]byte, error) {
	if strings.HasPrefix(what.release, "-") || strings.HasPrefix(what.namespace, "-") {
		return nil, errors.New("the name of the release is none")
	}
	key := fmt.Sprintf("%#v", what)
	if text, known := c.done[key]; known {
		return text, nil
	}
	home, err := os.MkdirTemp("", "dopolicy-chart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	at := filepath.Join(home, "chart")
	if err := copyChart(what.dir.String(), at, what.bare); err != nil {
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
	if what.crds {
		args = append(args, "--include-crds")
	}
	text, err := c.start(ctx, home, append(args, what.sets...))
	if err == nil {
		c.done[key] = text
	}
	return text, err
}

// start runs the program, with a time limit.
func (c *charts) start(ctx context.Context, home string, args []string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, maxChartTime)
	defer stop()
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.WaitDelay = home, time.Second
	none := filepath.Join(home, "none")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "KUBECONFIG=" + none, "HELM_NO_PLUGINS=1", "HELM_PLUGINS=" + none,
		"HELM_CONFIG_HOME=" + none, "HELM_CACHE_HOME=" + none, "HELM_DATA_HOME=" + none, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	out, words := &capped{left: maxRendered}, &capped{left: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, words
	err := cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("it makes more than %d bytes", maxRendered)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("helm does not end within %s", maxChartTime)
	case err != nil:
		return nil, plainly(errors.New("helm says: " + strings.ReplaceAll(oneLine(words.String(), err), home+string(filepath.Separator), "")))
	}
	return out.Bytes(), nil
}

// capped keeps what is written up to a limit, and fails after that.
type capped struct {
	bytes.Buffer
	left int
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		c.over = true
		return 0, errors.New("too much")
	}
	return c.Buffer.Write(p)
}

// copyChart copies the regular files of a chart. Links are left out: they could lead anywhere.
func copyChart(from, to string, bare bool) error {
	left := int64(maxChart)
	return filepath.WalkDir(from, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return cause(err)
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
			return cause(err)
		}
		if left -= info.Size(); left < 0 {
			return fmt.Errorf("the chart is larger than %d bytes", maxChart)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return cause(err)
		}
		return os.WriteFile(at, text, 0o600)
	})
}

// rendered adds what a chart makes. A chart that is not rendered is told.
func (r *repo) rendered(ctx context.Context, by fmt.Stringer, name, namespace string, what rendering) error {
	if c := r.chartAt[what.dir.String()]; c != nil {
		c.reached = true
	}
	if r.walk.charts == nil {
		r.omitChart(by)
		return nil
	}
	what.namespace = namespace
	start := time.Now()
	text, err := r.walk.charts.render(ctx, what)
	r.spent += time.Since(start)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var pieces []piece
	if err == nil {
		pieces, err = r.chartPieces(name, text)
	}
	if err != nil {
		origin := &model.Origin{File: name}
		if l, ok := by.(*lead); ok {
			origin = &l.at
		}
		r.in.problems = append(r.in.problems, model.Problem{Severity: model.Error, Code: model.NotEvaluated, Origin: origin,
			Message: fmt.Sprintf("%s: the chart in %s is not rendered: %s", by, name, err), Hint: renderHint})
		return nil
	}
	for i := range pieces {
		pieces[i].namespace = namespace
	}
	l, _ := by.(*lead)
	r.emit(pieces, l)
	return nil
}

// omitChart notes that a chart is not rendered because helm does not run.
func (r *repo) omitChart(by fmt.Stringer) {
	why, hint := notAsked, helmHint
	if r.o.Helm {
		why, hint = "there is no helm program", "install helm, or "+renderHint
	}
	if l, ok := by.(*lead); ok {
		r.omit(l, why, hint)
		return
	}
	r.add(omission{kind: "chart", why: why, hint: hint}, by)
}

// chartPieces are the documents that a chart made, each from the template that it names.
func (r *land) chartPieces(name string, text []byte) ([]piece, error) {
	var out []piece
	for _, p := range split(source{}, text) {
		file := name
		if _, after, found := bytes.Cut(p.text, []byte("# Source: ")); found {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			if _, below, found := strings.Cut(strings.TrimSpace(string(line)), "/"); found {
				file = path.Join(name, below)
			}
		}
		docs, failed := r.walk.parse(p.text)
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
			out = append(out, piece{file: source{name: file, named: true}, text: one, stream: true})
		}
	}
	return out, nil
}

// freeCharts renders the charts that nothing leads to, as they are.
func (r *repo) freeCharts(ctx context.Context) error {
	for _, dir := range slices.Sorted(maps.Keys(r.chartAt)) {
		c := r.chartAt[dir]
		if c.reached || r.claims.hold(dir) {
			continue
		}
		about, _ := r.manifestOf(ctx, c)
		if model.Text(about, "type") == "library" {
			continue
		}
		release := model.Text(about, "name")
		if release == "" {
			release = path.Base(c.name)
		}
		namespace := r.o.Namespace
		if namespace == "" {
			namespace = "default"
		}
		if err := r.rendered(ctx, c, c.name, namespace, rendering{dir: c.dir, release: release, crds: true}); err != nil {
			return err
		}
	}
	return nil
}

// manifestOf is what the Chart.yaml of a chart says.
func (r *land) manifestOf(ctx context.Context, c *chart) (any, error) {
	docs, err := r.walk.manifests(ctx, spot{dir: c.dir, file: "Chart.yaml", name: c.name + "/Chart.yaml"})
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0].value, nil
}
