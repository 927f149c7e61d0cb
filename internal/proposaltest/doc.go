// Package proposaltest runs the commands that answers propose.
package proposaltest
