package cli

import (
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigFlags are kubectl's flags that choose a cluster and a user. cli-runtime has them as
// ConfigFlags, together with clients that register every type of Kubernetes at the start of the
// program.
type kubeconfigFlags struct {
	file      string
	overrides clientcmd.ConfigOverrides
	userExtra []string // of the user to impersonate: KEY=VALUE
}

func (k *kubeconfigFlags) addKubeconfigFlags(fs *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	none := clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password, names.ClusterOverrideFlags.ProxyURL = none, none, none // kubectl has none either
	names.ContextOverrideFlags.Namespace = none                                                                                // -n is a flag of its own
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&k.overrides, fs, names)
	fs.StringVar(&k.file, "kubeconfig", "", "")
	fs.StringArrayVar(&k.userExtra, "as-user-extra", nil, "")
}

// newClientConfig reads the kubeconfig as the flags say.
func (k *kubeconfigFlags) newClientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = k.file
	overrides := k.overrides
	overrides.ClusterDefaults = clientcmd.ClusterDefaults
	if len(k.userExtra) > 0 {
		overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
	}
	for _, extra := range k.userExtra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// withContext returns the same flags with another context.
func (k *kubeconfigFlags) withContext(context string) *kubeconfigFlags {
	other := &kubeconfigFlags{file: k.file, userExtra: k.userExtra}
	other.overrides.CurrentContext, other.overrides.Timeout = context, k.overrides.Timeout
	user := &k.overrides.AuthInfo
	other.overrides.AuthInfo.Impersonate, other.overrides.AuthInfo.ImpersonateUID, other.overrides.AuthInfo.ImpersonateGroups = user.Impersonate, user.ImpersonateUID, user.ImpersonateGroups
	return other
}
