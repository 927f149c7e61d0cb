// Package health writes checks that judge the health of policies by the conditions that they report:
// in Lua for Argo CD, and in CEL for Flux. Both judge alike:
//
//   - a policy of which nothing is reported, or another generation, is progressing;
//   - it is degraded where a condition says so, or where its controller lists no ancestor;
//   - it is healthy where every entry of its status has every required condition with True;
//   - all else is progressing.
//
// What a condition means is said by the descriptor of the kind (policy.HealthWords).
package health
