package fleet

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// Member is one of several clusters that a command asks, in a run of its own.
type Member struct {
	name    string // the name in answers
	context string // of the kubeconfig; "": files are read
	file    string // the file or folder that is read instead

	options render.Options      // of the answer
	part    *render.ClusterPart // the answer; nil: none was written
}

// setFlags sets the flags of a run so that it reads this cluster.
func (m *Member) setFlags(cmd *cobra.Command) error {
	if m.context != "" {
		return cmd.Flags().Set("context", m.context)
	}
	files, ok := completion.FlagValue(cmd.Flags().Lookup("filename")).(pflag.SliceValue)
	if !ok { // the flag takes a list, see sourceFlags.add
		return cmd.Flags().Set("filename", m.file)
	}
	return files.Replace([]string{m.file})
}

// keepAnswer keeps an answer, to be written as one with those of the other clusters.
func (m *Member) keepAnswer(v render.View, o render.Options) error {
	o.Stamp.Cluster = m.name
	m.options = o
	var err error
	m.part, err = render.NewClusterPart(v, o)
	return err
}
