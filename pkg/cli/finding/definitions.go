package finding

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// DefinitionFlags name CustomResourceDefinitions by which objects are judged, and which are no part
// of the input.
type DefinitionFlags struct {
	Paths []string
	Steps int // that judging by schemas may take

	definitions []*model.Object
	Problems    []model.Problem // of reading them
}

func (d *DefinitionFlags) addFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&d.Paths, "crds", nil,
		"file or folder (read recursively) with CustomResourceDefinitions to validate objects against, besides those in the input (repeatable)")
	fs.IntVar(&d.Steps, "max-steps", check.DefaultSteps,
		"how many steps patterns and lists of unique items in schemas may take for all objects; those beyond are not judged, and the answer is incomplete")
}

// read reads what the flags name. There is an error if it cannot be read, or there is no
// definition in it.
func (d *DefinitionFlags) read(ctx context.Context, limits load.Limits, s run.Streams) error {
	switch {
	case d.Steps < 1:
		return failure.Usage("write a number of steps from 1", "--max-steps cannot be %d", d.Steps)
	case len(d.Paths) == 0:
		return nil
	case slices.Contains(d.Paths, "-"):
		return failure.Usage("name a file or a folder", "--crds cannot read standard input")
	}
	in, err := load.Files(ctx, load.Options{Paths: d.Paths, Recursive: true, Limits: limits})
	if err != nil {
		return source.ReportReadError(s, in, err)
	}
	d.definitions = in.Definitions()
	for _, p := range in.Problems {
		if p.Severity == model.Error {
			d.Problems = append(d.Problems, p)
		}
	}
	if len(d.definitions)+len(d.Problems) == 0 {
		return failure.NoAnswer(strings.Join(d.Paths, ", ")+": contains no CustomResourceDefinition",
			"name the file or folder with the definitions, for example --crds config/crd")
	}
	return nil
}
