package health

import (
	"fmt"
	"slices"
	"strings"
)

// FormatLua returns the check as a Lua script, which reads the object from the variable obj and
// returns a table with status and message. It uses no library but base and table, and nothing of the
// object is ever run.
func (c *Check) FormatLua() string {
	out := "-- " + c.Kind.String() + ", by kubectl dopolicy kinds -o argocd-health\n" + luaShared
	if c.State != nil {
		return out + fmt.Sprintf("local healthy, progressing = %s, %s\n", formatLuaSet(c.nameStates(c.State.Healthy)),
			formatLuaSet(c.nameStates(c.State.Progressing))) + c.formatLuaStates() + luaStateAnswer
	}
	w := c.Words
	out += fmt.Sprintf("local required, needed = %s, %s\n", formatLuaList(w.Required), formatLuaSet(c.listNeeded())) +
		fmt.Sprintf("local adverse, mentioned = %s, %s\n", formatLuaSet(w.Adverse), formatLuaSet(w.Mentioned)) +
		luaEntries
	if !w.Own {
		out += luaAncestors
		if len(w.Required) > 0 {
			out += fmt.Sprintf(luaForeign, quoteLua(w.Required[0]))
		}
	}
	out += luaJudge
	if !w.Own {
		out += luaNoAncestor
	}
	if len(w.Required) == 0 {
		out += luaSilent
	}
	return out + luaAnswer
}

// luaShared is the beginning of all scripts.
const luaShared = `local function list(v) if type(v) == "table" then return v end return {} end
local function text(v) if v == nil then return "" end return tostring(v) end
local function answer(health, lines)
  if #lines <= 3 then return {status = health, message = table.concat(lines, "; ")} end
  return {status = health, message = table.concat(lines, "; ", 1, 3) .. "; and " .. text(#lines - 3) .. " more"}
end
local status, generation = list(obj.status), text(list(obj.metadata).generation)
local function late(seen) return seen ~= nil and generation ~= "" and text(seen) ~= generation end
if late(status.observedGeneration) then
  return answer("Progressing", {"the status is about generation " .. text(status.observedGeneration)})
end
`

// luaEntries collects what is judged: the conditions of each ancestor, and the policy's own.
const luaEntries = `local entries = {}
local function add(entry, name)
  local conditions, decides = {}, false
  for _, c in ipairs(list(entry.conditions)) do
    table.insert(conditions, list(c))
    local kind = list(c).type
    decides = decides or needed[kind] or adverse[kind] or not mentioned[kind]
  end
  if decides or #conditions == 0 then
    table.insert(entries, {name = name, by = text(entry.controllerName), conditions = conditions})
  end
end
if #list(status.conditions) > 0 then add(status, "") end
`

// luaAncestors adds the entries of ancestors.
const luaAncestors = `for _, a in ipairs(list(status.ancestors)) do
  local ref = list(list(a).ancestorRef)
  local name = text(ref.kind or "Gateway") .. " "
  if ref.namespace ~= nil then name = name .. text(ref.namespace) .. "/" end
  name = name .. text(ref.name)
  if ref.sectionName ~= nil then name = name .. " (" .. text(ref.sectionName) .. ")" end
  add(list(a), name .. ": ")
end
`

// luaForeign takes out the entries of controllers that do not know the target, where another one has
// accepted the policy.
const luaForeign = `-- a controller that does not know the target has no say where another one has accepted the policy
local all, accepts, rejects = entries, {}, {}
for i, e in ipairs(all) do
  for _, c in ipairs(e.conditions) do
    if c.type == %s then
      accepts[i] = accepts[i] or c.status == "True"
      rejects[i] = rejects[i] or c.status == "False" and c.reason == "TargetNotFound"
    end
  end
end
entries = {}
for i, e in ipairs(all) do
  local foreign = false
  for j, other in ipairs(all) do foreign = foreign or rejects[i] and accepts[j] and other.by ~= e.by end
  if not foreign then table.insert(entries, e) end
end
`

// luaJudge judges every condition of every entry.
const luaJudge = `local stale, failed, waiting, told, known = {}, {}, {}, {}, false
for _, e in ipairs(entries) do
  local found = {}
  for _, c in ipairs(e.conditions) do
    local kind = e.name .. text(c.type)
    local line = kind .. " is " .. text(c.status) .. " (" .. text(c.reason) .. "): " .. text(c.message)
    found[text(c.type)] = true
    if needed[c.type] or adverse[c.type] then
      known = true
      if c.observedGeneration ~= 0 and late(c.observedGeneration) then
        table.insert(stale, kind .. " is about generation " .. text(c.observedGeneration))
      end
      if needed[c.type] and c.status == "False" or c.status == "True" and (adverse[c.type] or adverse[c.reason]) then
        table.insert(failed, line)
      elseif needed[c.type] and c.status ~= "True" then
        table.insert(waiting, line)
      end
    end
    if c.status == "True" and (mentioned[c.type] or mentioned[c.reason]) then table.insert(told, line) end
  end
  for _, kind in ipairs(required) do
    if not found[kind] then table.insert(waiting, e.name .. kind .. " is not reported yet") end
  end
end
if #stale > 0 then return answer("Progressing", stale) end
if #failed > 0 then return answer("Degraded", failed) end
`

// luaNoAncestor is for a policy that its controller has seen, and attached nowhere.
const luaNoAncestor = `if #entries == 0 and type(status.ancestors) == "table" and #status.ancestors == 0 then
  return answer("Degraded", {"its controller has seen the policy and lists no ancestor: it is attached to nothing"})
end
`

// luaSilent is for a kind of which not every policy has a status.
const luaSilent = `if not known then
  return answer("Healthy", {"not known: nothing is reported, and not every policy of the kind has a status"})
end
`

const luaAnswer = `if #entries == 0 then return answer("Progressing", {"no controller has reported on the policy"}) end
if #waiting > 0 then return answer("Progressing", waiting) end
return answer("Healthy", told)
`

// formatLuaStates collects the words of a status without conditions, by where they stand.
func (c *Check) formatLuaStates() string {
	at := c.State.At
	star := slices.Index(at, "*")
	out := "local states = {}\nlocal function add(name, holder)\n" +
		"  table.insert(states, {name = name, word = text(holder." + at[len(at)-1] +
		"), reason = text(holder.reason)})\nend\n"
	if star < 0 {
		return out + "local holder = " + nestLuaLists(at[:len(at)-1]) + "\nif holder." + at[len(at)-1] +
			" ~= nil then add(\"\", holder) end\n"
	}
	return out + "local names = {}\nfor name, _ in pairs(" + nestLuaLists(at[:star]) +
		") do table.insert(names, text(name)) end\ntable.sort(names)\nfor _, name in ipairs(names) do add(name .. \": \", " +
		strings.Replace(nestLuaLists(append(slices.Clone(at[:star]), "*")), ".*", "[name]", 1) + ") end\n"
}

// luaStateAnswer judges those words.
const luaStateAnswer = `local waiting, failed = {}, {}
for _, s in ipairs(states) do
  local line = s.name .. s.word .. ": " .. s.reason
  if s.word == "" or progressing[s.word] then
    table.insert(waiting, line)
  elseif not healthy[s.word] then
    table.insert(failed, line)
  end
end
if #states == 0 then return answer("Progressing", {"no controller has reported on the policy"}) end
if #waiting > 0 then return answer("Progressing", waiting) end
if #failed > 0 then return answer("Degraded", failed) end
return answer("Healthy", {})
`

// nestLuaLists is the table at a place of the object, or an empty one. The place begins with status.
func nestLuaLists(at []string) string {
	out := at[0]
	for _, step := range at[1:] {
		out = "list(" + out + "." + step + ")"
	}
	return out
}

// formatLuaList is a table of texts.
func formatLuaList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = quoteLua(s)
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

// formatLuaSet is a table that has true for each text.
func formatLuaSet(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = "[" + quoteLua(s) + "] = true"
	}
	return "{" + strings.Join(quoted, ", ") + "}"
}

// quoteLua is a text in quotes: of what is no letter, digit or harmless sign, the bytes are numbers.
func quoteLua(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if isPlain(s[i]) {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, `\%03d`, s[i])
		}
	}
	return b.String() + `"`
}

// isPlain reports whether a byte of a text means itself in any language.
func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./:, ", c) >= 0
}
