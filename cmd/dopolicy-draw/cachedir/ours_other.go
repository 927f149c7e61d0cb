//go:build !unix

package cachedir

import "os"

// ours reports whether path is a folder. On systems without Unix permissions the user's cache is
// below the profile, which is the user's.
func ours(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
