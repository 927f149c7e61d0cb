package cli

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

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// requestLogLevel is the -v from which requests are shown, as kubectl has it.
const requestLogLevel = 6

// clusterFlags are kubectl's flags about the cluster.
type clusterFlags struct {
	config    *kubeconfigFlags
	chunkSize int
	verbosity int
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

// addClusterFlags adds kubectl's flags and shows the common ones.
func (f *clusterFlags) addClusterFlags(fs *pflag.FlagSet) {
	f.config = &kubeconfigFlags{}
	kube := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.config.addKubeconfigFlags(kube)
	kube.IntVar(&f.chunkSize, "chunk-size", 5000, "number of objects to request per chunk of a list (0: all at once)")
	shown := commonClusterFlags()
	kube.VisitAll(func(flag *pflag.Flag) {
		usage, common := shown[flag.Name]
		flag.Hidden, flag.Usage = !common, usage
	})
	fs.AddFlagSet(kube)
	fs.IntVarP(&f.verbosity, "v", "v", 0, "log verbosity: 1, also as -v alone, is --verbose; 6 prints the requests to the server too")
}

// allowBareVerbosity lets -v stand alone. kubectl's -v takes a level, as a word of its own too.
func allowBareVerbosity(args []string) []string {
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

// clusterArgs repeats the flags that choose the cluster and the user, for commands proposed to the
// user.
func (f *clusterFlags) clusterArgs() []string {
	var out []string
	if f.config == nil {
		return nil
	}
	over := &f.config.overrides
	for _, given := range [][2]string{{"--kubeconfig", f.config.file}, {"--context", over.CurrentContext}, {"--cluster", over.Context.Cluster}, {"--user", over.Context.AuthInfo},
		{"--server", over.ClusterInfo.Server}, {"--as", over.AuthInfo.Impersonate}} {
		if given[1] != "" {
			out = append(out, given[0], view.QuoteShellWord(given[1]))
		}
	}
	for _, group := range over.AuthInfo.ImpersonateGroups {
		out = append(out, "--as-group", view.QuoteShellWord(group))
	}
	return out
}

// clusterAccess is a cluster that a command may ask, and how.
type clusterAccess struct {
	context   string // its name
	namespace string // used where the command line names none
	config    *rest.Config
	timeout   time.Duration // for all requests of a command together; 0: none
}

// findCluster reads the kubeconfig. Nothing is sent yet.
func (f *clusterFlags) findCluster() (*clusterAccess, error) {
	loader := f.config.newClientConfig()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, kubeconfigError(err)
	}
	c := &clusterAccess{context: raw.CurrentContext}
	over := &f.config.overrides
	c.context = cmp.Or(over.ClusterInfo.Server, over.Context.Cluster, over.CurrentContext, c.context) // each takes the place of those after it
	if _, wrong := clientcmd.ParseTimeout(over.Timeout); wrong != nil {
		return nil, newUsageError("write 5s, 2m or 1h; 0 for no limit", "--request-timeout cannot be %q", over.Timeout)
	}
	if c.config, err = loader.ClientConfig(); err != nil {
		return nil, kubeconfigError(err)
	}
	if len(raw.Clusters) == 0 && over.ClusterInfo.Server == "" && c.config.Host == clientcmd.ClusterDefaults.Server {
		return nil, newNoAnswerError("there is no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a cluster",
			"set KUBECONFIG or --kubeconfig to use a cluster, or read manifests with -f")
	}
	if c.context == "" {
		c.context = c.config.Host
	}
	if c.namespace, _, err = loader.Namespace(); err != nil {
		return nil, kubeconfigError(err)
	}
	c.timeout, c.config.Timeout = c.config.Timeout, 0
	return c, nil
}

// findClusterOf is findCluster with another context.
func (f *clusterFlags) findClusterOf(context string) (*clusterAccess, error) {
	over := &f.config.overrides
	for name, value := range map[string]string{"--cluster": over.Context.Cluster, "--user": over.Context.AuthInfo, "--server": over.ClusterInfo.Server} {
		if value != "" {
			return nil, newUsageError("name both clusters by their contexts", "%s cannot be given where two clusters are read", name)
		}
	}
	other := clusterFlags{config: f.config.withContext(context), chunkSize: f.chunkSize, verbosity: f.verbosity}
	return other.findCluster()
}

// kubeconfigError explains a kubeconfig that cannot be used.
func kubeconfigError(err error) error {
	return newNoAnswerError("reading the kubeconfig: "+err.Error(), "list the contexts with: kubectl config get-contexts")
}

// requestLogger returns a function that prints every request to the server, or nil where the user
// does not want to see them.
func (f *sourceFlags) requestLogger(s Streams) func(format string, args ...any) {
	if f.cluster.verbosity < requestLogLevel {
		return nil
	}
	var one sync.Mutex // requests run in parallel
	return func(format string, args ...any) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintf(s.Err, format+"\n", args...)
	}
}

// readCluster reads what a command may need of the cluster.
func (f *sourceFlags) readCluster(ctx context.Context, c *clusterAccess, engine *dopolicy.Engine, s Streams) (*model.Snapshot, error) {
	log := f.requestLogger(s)
	klog.SetLogger(logr.Discard()) // the client's own log lines repeat what our errors say
	server, err := load.NewServer(c.config, f.limits.loadLimits(), log)
	if err != nil {
		return nil, kubeconfigError(err)
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, errTooLate)
		defer cancel()
	}
	progress := &load.Progress{}
	if log == nil {
		defer showProgress(s, progress)()
	}
	in, err := engine.ReadServer(ctx, server, dopolicy.ClusterOptions{Asked: f.askedKinds(), ClusterOptions: load.ClusterOptions{
		Context: c.context, ReadAt: time.Now().UTC().Truncate(time.Second), AllDefinitions: f.allKinds || !f.noSchemas, Namespaces: []string{f.namespace},
		Reports: f.wantedReports(), PageSize: f.cluster.chunkSize, Progress: progress, Cache: f.cache, Overlay: f.loadOptions(s), Limits: f.limits.loadLimits()}})
	switch {
	case errors.Is(context.Cause(ctx), errTooLate):
		return nil, newNoAnswerError(fmt.Sprintf("reading cluster %s took longer than %s", c.context, c.timeout), "raise --request-timeout, or log the requests with -v 6")
	case ctx.Err() != nil:
		return nil, newNoAnswerError("interrupted while reading cluster "+c.context, "")
	}
	return in, err
}

// errTooLate is the cause of a context whose --request-timeout is over.
var errTooLate = errors.New("the time limit for all requests was reached")

// askedKinds narrows what is read to the kinds that the flags name; nil: they name none.
func (f *sourceFlags) askedKinds() func(*policy.Kind) bool {
	if len(f.onlyKinds) == 0 {
		return nil
	}
	return func(k *policy.Kind) bool {
		return slices.ContainsFunc(f.onlyKinds, func(name string) bool {
			return slices.Contains(spellKind(k.GroupKind, k.Plural, k.ShortNames), strings.ToLower(name))
		})
	}
}
