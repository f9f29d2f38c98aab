local id = ...
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
print("fib", fib(15 + id))
local t = {}
for i = 1, 2000 do t[i] = (i * 7919 + id) % 1009 end
table.sort(t)
local s = 0 for i, v in ipairs(t) do s = s + i * v end
print("sort", s, t[1], t[1000], t[2000])
local words = {}
for w in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do words[#words+1] = w:upper():reverse() end
print(table.concat(words, ",", 1), #words)
print((("x"):rep(50, "-")):gsub("x%-", function(m) return m:byte() end))
for _, v in ipairs{0.1, 1/3, 1e300, -2.5e-10, 123456789.125, 2^53, math.pi, -0.0, 1/0, -1/0} do
  print(string.format("%g %.3f %e %.14g %a", v, v > 1e20 and 0 or v, v, v, v), v)
end
print(0x7fffffffffffffff + 1, 7 // 2, -7 // 2, -7 % 3, 7.5 // 2, 5 // 0.0, 1 << 62, 3 | 4, ~0)
print(string.format("%d %5d %-5d| %05d %x %X %o %c %q %s %10.4s|", 42, 42, 42, 42, 255, 255, 8, 65, "a\tb\0", true, "abcdefgh"))
print(tostring(3.0), 10 // 3, 2^0.5, math.sin(1), math.cos(1), math.exp(1), math.log(10), math.sqrt(2), math.fmod(7, 3), math.atan(1, 2))
print(tonumber("0x1p4"), tonumber("1e2"), tonumber("  12  "), tonumber("z", 36), tonumber("abc"), tonumber("0.1e-5"))
print(math.tointeger(3.0), math.type(1), math.type(1.0), math.ult(1, -1), math.maxinteger, math.mininteger)
print(pcall(error, {code = 1}) and "?" or "table error")
print(pcall(error, "plain", 0))
print(pcall(function() local x = nil; return x.y end))
print(select(2, pcall(function() return 1 + {} end)))
print(select(2, pcall(string.rep, "x", -1)), pcall(string.rep))
local function deep(n) if n == 0 then error("deep " .. id, 0) end return 1 + deep(n - 1) end
local errs = 0
for i = 1, 200 do local ok, e = pcall(deep, i % 60) if not ok and e == "deep " .. id then errs = errs + 1 end end
print("errors", errs)
print(xpcall(deep, function(e) return "handled " .. e end, 30))
local function nest(n) if n == 0 then error("nested", 0) end local ok, e = pcall(nest, n - 1) error(e .. n, 0) end
print(pcall(nest, 20))
print(string.pack(">i4d", 7, 1.5):byte(1, -1))
print(#string.rep("abc", 10000), ("%s"):rep(3, "|"))
local m = setmetatable({}, {__index = function(_, k) return k * 2 end, __add = function(a, b) return "added" end, __close = function() print("closed") end})
print(m[21], m + 1)
do local c <close> = m end
print(utf8.char(228, 8364, 128512), utf8.len("äö€"))
local co = coroutine.wrap(function(a) for i = 1, 5 do a = a + coroutine.yield(a * i) end return "end" end)
local line = {} local v = co(1) while v ~= "end" do line[#line+1] = v v = co(2) end
print("co", table.concat(line, " "))
for i = 1, 60 do local g = {} for j = 1, 50 do g[j] = {j, tostring(j)} end end
collectgarbage()
print("memory", collectgarbage("count") < 500)
local sum = 0 for i = 1, 20000 do sum = sum + i / 3 end
print(string.format("%.10f", sum))
print("done", id)
