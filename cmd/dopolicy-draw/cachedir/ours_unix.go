//go:build unix

package cachedir

import (
	"os"
	"syscall"
)

// ours reports whether path is a folder of the user's, no symbolic link, in which nobody else can
// write.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && int(stat.Uid) == os.Getuid()
}
