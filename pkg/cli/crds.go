package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// definitionFlags name CustomResourceDefinitions by which objects are judged, and which are no part of the input.
type definitionFlags struct {
	paths []string

	definitions []*model.Object
	problems    []model.Problem // of reading them
}

func (d *definitionFlags) addTo(fs *pflag.FlagSet) {
	fs.StringSliceVar(&d.paths, "crds", nil, "file or folder (read recursively) with CustomResourceDefinitions to validate objects against, besides those in the input (repeatable)")
}

// read reads what the flags name. There is an error if it cannot be read, or there is no definition in it.
func (d *definitionFlags) read(ctx context.Context, s Streams) error {
	switch {
	case len(d.paths) == 0:
		return nil
	case slices.Contains(d.paths, "-"):
		return usage("name a file or a folder", "--crds cannot read standard input")
	}
	in, err := load.Files(ctx, load.Options{Paths: d.paths, Recursive: true})
	if err != nil {
		return told(s, in, err)
	}
	d.definitions = in.Definitions()
	for _, p := range in.Problems {
		if p.Severity == model.Error {
			d.problems = append(d.problems, p)
		}
	}
	if len(d.definitions)+len(d.problems) == 0 {
		return &noAnswer{strings.Join(d.paths, ", ") + ": contains no CustomResourceDefinition", "name the file or folder with the definitions, for example --crds config/crd"}
	}
	return nil
}
