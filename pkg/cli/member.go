package cli

import (
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// member is one of several clusters that a command asks, in a run of its own.
type member struct {
	name    string // how answers call it
	context string // of the kubeconfig; "": files are read
	file    string // the file or folder that is read instead
	shared  *shared

	options render.Options // of the answer
	part    *render.Part   // the answer; nil: none was written
}

// shared is what all runs have in common, as it depends on the command line only.
type shared struct {
	once    sync.Once
	catalog *descriptor.Catalog
	err     error
}

// catalog makes the catalogue, or takes that of the run before.
func (m *member) catalog(make func() (*descriptor.Catalog, error)) (*descriptor.Catalog, error) {
	if m == nil {
		return make()
	}
	m.shared.once.Do(func() { m.shared.catalog, m.shared.err = make() })
	return m.shared.catalog, m.shared.err
}

// choose sets the flags of a run so that it reads this cluster.
func (m *member) choose(cmd *cobra.Command) error {
	if m.context != "" {
		return cmd.Flags().Set("context", m.context)
	}
	files, ok := flagValue(cmd.Flags().Lookup("filename")).(pflag.SliceValue)
	if !ok { // the flag takes a list, see sourceFlags.add
		return cmd.Flags().Set("filename", m.file)
	}
	return files.Replace([]string{m.file})
}

// answer writes an answer, or keeps it for where those of several clusters are written.
func (s Streams) answer(v render.View, o render.Options) error {
	if s.member == nil {
		return render.Write(s.Out, v, o)
	}
	o.Stamp.Cluster = s.member.name
	s.member.options = o
	var err error
	s.member.part, err = render.NewPart(v, o)
	return err
}

// stamp says which cluster an answer is about, and when that was read. A comparison is not about one.
func stamp(s *session, v render.View) render.Stamp {
	if _, two := v.(*view.EffectivePolicyDiff); two || s.Input == nil || s.Snapshot.Cluster == nil {
		return render.Stamp{}
	}
	return render.Stamp{Cluster: s.Snapshot.Cluster.Context, ReadAt: s.Snapshot.Cluster.ReadAt}
}
