package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/child"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// What rendering one chart may take.
const (
	maxChartBytes    = 64 << 20 // bytes of its files
	maxRenderedBytes = 64 << 20 // bytes of what it makes
	maxChartTime     = time.Minute
)

// Why charts are not rendered, and what to do about it.
const (
	NotEnabled = "charts are rendered only if that is asked for"
	RenderHint = "render it where it is deployed, and read the result too"
	EnableHint = "--enable-helm has the helm program render it"
)

// Renderer renders charts with the helm program. It gets a copy of the chart, an empty home without
// plugins, and no cluster; a chart whose parts would have to be fetched is an error.
type Renderer struct {
	program  string
	rendered map[string][]byte // what was rendered, by all that it depends on
}

// NewRenderer finds the helm program. It is nil if there is none, or if it may not be run.
func NewRenderer(allowed bool) *Renderer {
	if !allowed {
		return nil
	}
	program, err := exec.LookPath("helm")
	if err != nil {
		return nil
	}
	return &Renderer{program: program, rendered: map[string][]byte{}}
}

// Release is a chart and what it is rendered with.
type Release struct {
	Dir             filesys.ConfirmedDir
	Name, Namespace string
	Values          [][]byte // YAML, later ones win
	WithoutDefaults bool     // without the values of the chart itself
	SetOptions      []string // options
	IncludeCRDs     bool
}

// Render returns the manifests that a chart makes.
func (c *Renderer) Render(ctx context.Context, what Release) ([]byte, error) {
	if strings.HasPrefix(what.Name, "-") || strings.HasPrefix(what.Namespace, "-") {
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
	defer context.AfterFunc(ctx, func() { _ = os.RemoveAll(home) })() // the program may end before this returns
	at := filepath.Join(home, "chart")
	if err := copyChart(what.Dir.String(), at, what.WithoutDefaults); err != nil {
		return nil, err
	}
	args := []string{"template", what.Name, at, "--namespace", what.Namespace}
	for i, values := range what.Values {
		file := filepath.Join(home, fmt.Sprintf("values-%d.yaml", i))
		if err := os.WriteFile(file, values, 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--values", file)
	}
	if what.IncludeCRDs {
		args = append(args, "--include-crds")
	}
	text, err := c.runHelm(ctx, home, append(args, what.SetOptions...))
	if err == nil {
		c.rendered[key] = text
	}
	return text, err
}

// runHelm runs the program, with a time limit.
func (c *Renderer) runHelm(ctx context.Context, home string, args []string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, maxChartTime)
	defer stop()
	cmd := child.NewCommand(ctx, c.program, args...)
	cmd.Dir = home
	none := filepath.Join(home, "none")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "KUBECONFIG=" + none,
		"HELM_NO_PLUGINS=1", "HELM_PLUGINS=" + none,
		"HELM_CONFIG_HOME=" + none, "HELM_CACHE_HOME=" + none, "HELM_DATA_HOME=" + none, "SYSTEMROOT=" +
			os.Getenv("SYSTEMROOT")}
	out, words := document.NewBoundedBuffer(maxRenderedBytes), document.NewBoundedBuffer(64<<10)
	cmd.Stdout, cmd.Stderr = out, words
	err := cmd.Run()
	switch {
	case out.IsExceeded():
		return nil, fmt.Errorf("it makes more than %d bytes", maxRenderedBytes)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("helm does not end within %s", maxChartTime)
	case err != nil:
		return nil, errors.New("helm says: " + strings.ReplaceAll(document.ProgramFailure(words.String(), err),
			home+string(filepath.Separator), ""))
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

// AppendValues adds values that are written in an object.
func AppendValues(list [][]byte, v any) [][]byte {
	if v == nil {
		return list
	}
	text, err := json.Marshal(v)
	if err != nil {
		return list
	}
	return append(list, text)
}
