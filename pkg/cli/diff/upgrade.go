package diff

import (
	"context"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/sides"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// compareUpgrade compares one input as two versions of vendors' schemas read it.
func (f *Options) compareUpgrade(ctx context.Context) error {
	names := append(f.Args, f.Sides.Source.Files...)
	switch {
	case len(names) != 1 || f.Sides.From != "" || f.Sides.To != "" || len(f.Sides.At) > 0 ||
		f.Sides.Source.Kustomization != "":
		return failure.Usage("name one file or folder: kubectl dopolicy diff --upgrade VENDOR=FROM..TO -f manifests/",
			"--upgrade compares one input with itself")
	case len(f.Sides.Deleted) > 0 || f.Sides.ToContext != "":
		return failure.Usage("drop one of the two", "--upgrade cannot be given with --delete or --to-context")
	}
	side := sides.Side{Text: names[0]}
	f.Sides.Source.Files = nil
	from, to := f.Sides.Source, f.Sides.Source
	for _, text := range f.Upgrades {
		vendor, versions, _ := strings.Cut(text, "=")
		first, second, ok := strings.Cut(versions, "..")
		if !ok || vendor == "" || first == "" || second == "" {
			return failure.Usage("write VENDOR=FROM..TO, such as gatewayapi=1.5..1.7", "--upgrade cannot be %q", text)
		}
		from.Schemas.Versions = append(from.Schemas.Versions[:len(from.Schemas.Versions):len(from.Schemas.Versions)],
			vendor+"="+first)
		to.Schemas.Versions = append(to.Schemas.Versions[:len(to.Schemas.Versions):len(to.Schemas.Versions)],
			vendor+"="+second)
	}
	catalogue, err := plugin.Schemas(f.Environment.Plugins)
	if err != nil {
		return err
	}
	from.Schemas.Catalogue, to.Schemas.Catalogue = catalogue, catalogue
	to.Schemas.Stored = true // the question is what the second version makes of them
	engine, err := from.Engine(ctx, f.Environment)
	if err != nil {
		return err
	}
	upgraded, err := to.Engine(ctx, f.Environment)
	if err != nil {
		return err
	}
	s := f.Environment.Streams
	r, err := f.Sides.NewReader(engine, s, side, side)
	if err != nil {
		return err
	}
	read, err := r.Read(ctx, side)
	if err != nil {
		return err
	}
	return f.compareSessions(from.NewSession(engine.Resolve(read), s), to.NewSession(upgraded.Resolve(read), s))
}
