package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const (
	project = "github.com/dopolicy/kubectl-dopolicy"
	self    = project + "/test/cluster"
	kube    = "k8s.io/kubernetes"
)

// The programs, by name, with the packages of the module in the folder programs that they are built from.
var programs = map[string]string{
	"etcd":           "go.etcd.io/etcd/server/v3",
	"kube-apiserver": kube + "/cmd/kube-apiserver",
	"kubectl":        kube + "/cmd/kubectl",
}

// built is the path of a program, which is built if it has not been with this Go and these versions. Several test processes may ask at
// the same time: one builds, the others wait.
func built(name string) (string, error) {
	source, err := moduleFolder(self)
	if err != nil {
		return "", err
	}
	source = filepath.Join(source, "programs")
	folder, err := cacheFolder(source)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	unlock, err := lock(filepath.Join(folder, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(os.Stderr, "building %s for the tests: minutes the first time, seconds with a warm build cache\n", name)
	version, err := output(source, nil, "go", "list", "-m", "-f", "{{.Version}}", kube)
	if err != nil {
		return "", err
	}
	flags := "-s -w -X k8s.io/component-base/version.gitVersion=" + version
	fresh := path + ".new"
	if _, err := output(source, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", flags, "-o", fresh,
		programs[name]); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

// cacheFolder is where programs stay that were built from the module in source: another one for every change of its files and of Go.
func cacheFolder(source string) (string, error) {
	stamp := sha256.New()
	fmt.Fprintln(stamp, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		stamp.Write(text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "kubectl-dopolicy-test", hex.EncodeToString(stamp.Sum(nil)[:8]))
	return folder, os.MkdirAll(folder, 0o755)
}

// lock holds the file at path against other processes until the function that it returns is called.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, f.Close())
	}
	return func() { f.Close() }, nil
}

// moduleFolder is the folder of a module that this one needs, or of this one itself.
func moduleFolder(path string) (string, error) {
	return output("", nil, "go", "list", "-m", "-f", "{{.Dir}}", path)
}

// output runs a program in a folder ("" for the present one) with more environment, and returns what it printed, trimmed.
func output(folder string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
