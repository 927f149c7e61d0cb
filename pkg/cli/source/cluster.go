package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// requestLogLevel is the -v from which requests are shown, as kubectl has it.
const requestLogLevel = 6

// ClusterFlags are kubectl's flags about the cluster.
type ClusterFlags struct {
	Config    *KubeconfigFlags
	ChunkSize int
	Verbosity int

	PrintRights bool // the rights that are missing are printed, in place of the answer
}

// commonClusterFlags returns the flags that help shows, with their help texts; the others work as
// well.
func commonClusterFlags() map[string]string {
	return map[string]string{
		"as":              "user to impersonate: show what that user would see",
		"as-group":        "group to impersonate (repeatable)",
		"context":         "kubeconfig context to use",
		"kubeconfig":      "kubeconfig file",
		"request-timeout": "time limit for all requests to the cluster together, such as 5s or 2m (0: no limit)",
	}
}

// AddFlags adds kubectl's flags and shows the common ones.
func (f *ClusterFlags) AddFlags(fs *pflag.FlagSet) {
	f.Config = &KubeconfigFlags{}
	kube := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Config.addKubeconfigFlags(kube)
	kube.IntVar(&f.ChunkSize, "chunk-size", 5000, "number of objects to request per chunk of a list (0: all at once)")
	kube.BoolVar(&f.PrintRights, "print-rbac", false, "")
	shown := commonClusterFlags()
	kube.VisitAll(func(flag *pflag.Flag) {
		usage, common := shown[flag.Name]
		flag.Hidden = !common
		if common {
			flag.Usage = usage
		}
	})
	fs.AddFlagSet(kube)
	fs.IntVarP(&f.Verbosity, "v", "v", 0,
		"log verbosity: 1, also as -v alone, is --verbose; 6 prints the requests to the server too")
}

// AllowBareVerbosity lets -v stand alone. kubectl's -v takes a level, as a word of its own too.
func AllowBareVerbosity(args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		if arg != "-v" {
			continue
		}
		if i+1 < len(out) {
			if _, err := strconv.Atoi(out[i+1]); err == nil {
				continue
			}
		}
		out[i] = "-v=1"
	}
	return out
}

// repeatFlags repeats the flags that choose the cluster and the user, for commands proposed to the
// user.
func (f *ClusterFlags) repeatFlags() []string {
	var out []string
	if f.Config == nil {
		return nil
	}
	over := &f.Config.Overrides
	for _, given := range [][2]string{{"--kubeconfig", f.Config.File}, {"--context", over.CurrentContext},
		{"--cluster", over.Context.Cluster}, {"--user", over.Context.AuthInfo},
		{"--server", document.HideCredentialsOf(over.ClusterInfo.Server, over.ClusterInfo.Server)},
		{"--as", over.AuthInfo.Impersonate}} {
		if given[1] != "" {
			out = append(out, given[0], view.QuoteShellWord(given[1]))
		}
	}
	for _, group := range over.AuthInfo.ImpersonateGroups {
		out = append(out, "--as-group", view.QuoteShellWord(group))
	}
	return out
}

// ClusterAccess is a cluster that a command may ask, and how.
type ClusterAccess struct {
	Context   string // its name
	Namespace string // used where the command line names none
	Config    *rest.Config
	Timeout   time.Duration // for all requests of a command together; 0: none
}

// Find reads the kubeconfig. Nothing is sent yet.
func (f *ClusterFlags) Find() (*ClusterAccess, error) {
	loader := f.Config.newClientConfig()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, KubeconfigError(err)
	}
	c := &ClusterAccess{Context: raw.CurrentContext}
	over := &f.Config.Overrides
	addresses := []string{over.ClusterInfo.Server}
	for _, one := range raw.Clusters {
		addresses = append(addresses, one.Server, one.ProxyURL)
	}
	// each takes the place of those after it
	c.Context = cmp.Or(over.ClusterInfo.Server, over.Context.Cluster, over.CurrentContext, c.Context)
	if _, wrong := clientcmd.ParseTimeout(over.Timeout); wrong != nil {
		return nil, failure.Usage("write 5s, 2m or 1h; 0 for no limit", "--request-timeout cannot be %q", over.Timeout)
	}
	if c.Config, err = loader.ClientConfig(); err != nil {
		return nil, KubeconfigError(err, addresses...)
	}
	if len(raw.Clusters) == 0 && over.ClusterInfo.Server == "" && c.Config.Host == clientcmd.ClusterDefaults.Server {
		return nil, failure.NoAnswer("there is no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster",
			"set KUBECONFIG or --kubeconfig to use a cluster, or read manifests with -f")
	}
	c.Context = cmp.Or(c.Context, c.Config.Host)
	c.Context = document.HideCredentialsOf(over.ClusterInfo.Server, c.Context)
	c.Context = document.HideCredentialsOf(c.Config.Host, c.Context)
	if c.Namespace, _, err = loader.Namespace(); err != nil {
		return nil, KubeconfigError(err)
	}
	c.Timeout, c.Config.Timeout = c.Config.Timeout, 0
	return c, nil
}

// FindOf is findCluster with another context.
func (f *ClusterFlags) FindOf(context string) (*ClusterAccess, error) {
	over := &f.Config.Overrides
	for name, value := range map[string]string{"--cluster": over.Context.Cluster, "--user": over.Context.AuthInfo,
		"--server": over.ClusterInfo.Server} {
		if value != "" {
			return nil, failure.Usage("name both clusters by their contexts",
				"%s cannot be given where two clusters are read", name)
		}
	}
	other := ClusterFlags{Config: f.Config.withContext(context), ChunkSize: f.ChunkSize, Verbosity: f.Verbosity}
	return other.Find()
}

// KubeconfigError explains a kubeconfig that cannot be used. Addresses in it are named without
// credentials.
func KubeconfigError(err error, addresses ...string) error {
	text := err.Error()
	for _, a := range addresses {
		text = document.HideCredentialsOf(a, text)
	}
	return failure.NoAnswer("reading the kubeconfig: "+text,
		"list the contexts with: kubectl config get-contexts")
}

// RequestLogger returns a function that prints every request to the server, or nil where the user
// does not want to see them.
func (f *Flags) RequestLogger(s run.Streams) func(format string, args ...any) {
	if f.Cluster.Verbosity < requestLogLevel {
		return nil
	}
	var one sync.Mutex // requests run in parallel
	return func(format string, args ...any) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintf(s.Err, format+"\n", args...)
	}
}

// ReadCluster reads what a command may need of the cluster.
func (f *Flags) ReadCluster(ctx context.Context, c *ClusterAccess, engine *dopolicy.Engine,
	s run.Streams) (*model.Snapshot, error) {
	klog.SetLogger(logr.Discard()) // the client's own log lines repeat what our errors say
	server, err := f.NewServer(c, s)
	if err != nil {
		return nil, err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTooLate)
		defer cancel()
	}
	progress := &cluster.Progress{}
	if f.RequestLogger(s) == nil {
		defer showProgress(s, progress)()
	}
	in, err := engine.ReadServer(ctx, server, dopolicy.ClusterOptions{Asked: f.askedKinds(), Options: cluster.Options{
		Context: c.Context, ReadAt: time.Now().UTC().Truncate(time.Second), AllDefinitions: f.AllKinds ||
			!f.NoSchemas, Namespaces: []string{f.Namespace},
		NothingAllowed: f.Cluster.PrintRights, Reports: f.wantedReports(), PageSize: f.Cluster.ChunkSize,
		Progress: progress, Cache: f.Cache, Overlay: f.loadOptions(s), Limits: f.Limits.Values()}})
	switch {
	case errors.Is(context.Cause(ctx), ErrTooLate):
		return nil, failure.NoAnswer(fmt.Sprintf("reading cluster %s took longer than %s", c.Context, c.Timeout),
			"raise --request-timeout, or log the requests with -v 6")
	case ctx.Err() != nil:
		return nil, failure.NoAnswer("interrupted while reading cluster "+c.Context, "")
	case err == nil && f.Cluster.PrintRights:
		return nil, f.NewSession(engine.Resolve(in), s).printRights(ctx)
	}
	return in, err
}

// ErrTooLate is the cause of a context whose --request-timeout is over.
var ErrTooLate = errors.New("the time limit for all requests was reached")

// askedKinds narrows what is read to the kinds that the flags name; nil: they name none.
func (f *Flags) askedKinds() func(*policy.Kind) bool {
	if len(f.OnlyKinds) == 0 {
		return nil
	}
	return func(k *policy.Kind) bool {
		return slices.ContainsFunc(f.OnlyKinds, func(name string) bool {
			return slices.Contains(SpellKind(k.GroupKind, k.Plural, k.ShortNames), strings.ToLower(name))
		})
	}
}

// wantedReports returns the published reports that are read where policies may not be read.
func (f *Flags) wantedReports() *cluster.ReportQuery {
	if !f.Reports {
		return nil
	}
	out := &cluster.ReportQuery{Selector: publish.Selector, AllNamespaces: f.AllNamespaces}
	for _, api := range publish.APIs() {
		out.Kinds = append(out.Kinds, api.GroupKind)
	}
	return out
}
