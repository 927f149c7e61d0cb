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
	name         string // the name in answers
	context      string // of the kubeconfig; "": files are read
	file         string // the file or folder that is read instead
	catalogCache *catalogCache

	options render.Options      // of the answer
	part    *render.ClusterPart // the answer; nil: none was written
}

// catalogCache holds the catalogue that all runs have in common, as it depends on the command line
// only.
type catalogCache struct {
	once    sync.Once
	catalog *descriptor.Catalog
	err     error
}

// loadCatalog makes the catalogue, or takes that of the run before.
func (m *member) loadCatalog(make func() (*descriptor.Catalog, error)) (*descriptor.Catalog, error) {
	if m == nil {
		return make()
	}
	m.catalogCache.once.Do(func() { m.catalogCache.catalog, m.catalogCache.err = make() })
	return m.catalogCache.catalog, m.catalogCache.err
}

// setFlags sets the flags of a run so that it reads this cluster.
func (m *member) setFlags(cmd *cobra.Command) error {
	if m.context != "" {
		return cmd.Flags().Set("context", m.context)
	}
	files, ok := flagValue(cmd.Flags().Lookup("filename")).(pflag.SliceValue)
	if !ok { // the flag takes a list, see sourceFlags.add
		return cmd.Flags().Set("filename", m.file)
	}
	return files.Replace([]string{m.file})
}

// writeView writes an answer, or keeps it where those of several clusters are written as one.
func (s Streams) writeView(v render.View, o render.Options) error {
	if s.member == nil {
		return render.Write(s.Out, v, o)
	}
	o.Stamp.Cluster = s.member.name
	s.member.options = o
	var err error
	s.member.part, err = render.NewClusterPart(v, o)
	return err
}

// stampOf says which cluster an answer is about, and when that was read. A comparison is not about
// one cluster.
func stampOf(s *session, v render.View) render.Stamp {
	if _, two := v.(*view.EffectivePolicyDiff); two || s.Input == nil || s.Snapshot.Cluster == nil {
		return render.Stamp{}
	}
	return render.Stamp{Cluster: s.Snapshot.Cluster.Context, ReadAt: s.Snapshot.Cluster.ReadAt}
}
