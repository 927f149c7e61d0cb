package source

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// KubeconfigFlags are kubectl's flags that choose a cluster and a user. cli-runtime has them as
// ConfigFlags, together with clients that register every type of Kubernetes at the start of the
// program.
type KubeconfigFlags struct {
	File      string
	Overrides clientcmd.ConfigOverrides
	UserExtra []string // of the user to impersonate: KEY=VALUE
}

func (k *KubeconfigFlags) addKubeconfigFlags(fs *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	none := clientcmd.FlagInfo{}
	// kubectl has none either
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password, names.ClusterOverrideFlags.ProxyURL = none,
		none, none
	// -n is a flag of its own
	names.ContextOverrideFlags.Namespace = none
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&k.Overrides, fs, names)
	fs.StringVar(&k.File, "kubeconfig", "", "")
	fs.StringArrayVar(&k.UserExtra, "as-user-extra", nil, "extra of the user to impersonate, as KEY=VALUE (repeatable)")
}

// newClientConfig reads the kubeconfig as the flags say.
func (k *KubeconfigFlags) newClientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = k.File
	overrides := k.Overrides
	overrides.ClusterDefaults = clientcmd.ClusterDefaults
	if len(k.UserExtra) > 0 {
		overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
	}
	for _, extra := range k.UserExtra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// withContext returns the same flags with another context.
func (k *KubeconfigFlags) withContext(context string) *KubeconfigFlags {
	other := &KubeconfigFlags{File: k.File, UserExtra: k.UserExtra}
	other.Overrides.CurrentContext, other.Overrides.Timeout = context, k.Overrides.Timeout
	user := &k.Overrides.AuthInfo
	other.Overrides.AuthInfo.Impersonate, other.Overrides.AuthInfo.ImpersonateUID,
		other.Overrides.AuthInfo.ImpersonateGroups = user.Impersonate, user.ImpersonateUID, user.ImpersonateGroups
	return other
}

// ListContexts returns the contexts of the kubeconfig, sorted.
func ListContexts(cmd *cobra.Command) ([]string, error) {
	config := KubeconfigFlags{File: cmd.Flags().Lookup("kubeconfig").Value.String()}
	raw, err := config.newClientConfig().RawConfig()
	if err != nil {
		return nil, KubeconfigError(err)
	}
	var out []string
	for name := range raw.Contexts {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, nil
}
