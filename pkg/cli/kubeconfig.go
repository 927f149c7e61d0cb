package cli

import (
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigFlags are kubectl's flags that choose a cluster and a user. cli-runtime has the same as ConfigFlags, together with clients that register
// every type of Kubernetes before the program begins.
type kubeconfigFlags struct {
	file      string
	overrides clientcmd.ConfigOverrides
	extra     []string // of the user to impersonate: KEY=VALUE
}

func (k *kubeconfigFlags) add(fs *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	none := clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password, names.ClusterOverrideFlags.ProxyURL = none, none, none // kubectl has none either
	names.ContextOverrideFlags.Namespace = none                                                                                // -n is a flag of its own
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&k.overrides, fs, names)
	fs.StringVar(&k.file, "kubeconfig", "", "")
	fs.StringArrayVar(&k.extra, "as-user-extra", nil, "")
}

// loader reads the kubeconfig as the flags say.
func (k *kubeconfigFlags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
	rules.ExplicitPath = k.file
	overrides := k.overrides
	overrides.ClusterDefaults = clientcmd.ClusterDefaults
	if len(k.extra) > 0 {
		overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
	}
	for _, extra := range k.extra {
		if key, value, ok := strings.Cut(extra, "="); ok {
			overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// elsewhere is the same with another context.
func (k *kubeconfigFlags) elsewhere(context string) *kubeconfigFlags {
	other := &kubeconfigFlags{file: k.file, extra: k.extra}
	other.overrides.CurrentContext, other.overrides.Timeout = context, k.overrides.Timeout
	user := &k.overrides.AuthInfo
	other.overrides.AuthInfo.Impersonate, other.overrides.AuthInfo.ImpersonateUID, other.overrides.AuthInfo.ImpersonateGroups = user.Impersonate, user.ImpersonateUID, user.ImpersonateGroups
	return other
}
