local id = ...
-- producer, filter, consumer
local function producer(n) return coroutine.create(function() for i = 1, n do coroutine.yield("item " .. i) end return nil end) end
local function filter(p) return coroutine.create(function() local k = 1 while true do local ok, x = coroutine.resume(p) if not x then return nil end coroutine.yield(k .. ":" .. x) k = k + 1 end end) end
local function consumer(p) local all = {} while true do local ok, x = coroutine.resume(p) if not x then return table.concat(all, " ") end all[#all + 1] = x end end
print(consumer(filter(filter(producer(8)))))
-- generators
local function perm(a, n) n = n or #a if n <= 1 then coroutine.yield(table.concat(a)) else for i = 1, n do a[n], a[i] = a[i], a[n] perm(a, n - 1) a[n], a[i] = a[i], a[n] end end end
local c = 0 local last for s in coroutine.wrap(function() perm{"a", "b", "c", "d", "e"} end) do c = c + 1 last = s end
print("permutations", c, last)
local function mk(n) if n == 0 then return nil end return {l = mk(n - 1), v = n, r = mk(n - 1)} end
local function walk(t) if t then walk(t.l) coroutine.yield(t.v) walk(t.r) end end
local s = 0 local w = {} for v in coroutine.wrap(function() walk(mk(7)) end) do s = s * 3 % 1000003 + v w[#w+1] = v end
print("walk", #w, s)
-- values both ways
local co = coroutine.create(function(a, b) local c, d = coroutine.yield(a + b, a * b) local e = coroutine.yield(c .. d) return "end", e, nil, 4 end)
print(coroutine.resume(co, 3, 4)) print(coroutine.resume(co, "x", "y")) print(coroutine.status(co)) print(coroutine.resume(co, {} ~= nil)) print(coroutine.status(co)) print(coroutine.resume(co))
-- errors
print(coroutine.resume(coroutine.create(function() error("in it", 0) end)))
print(coroutine.resume(coroutine.create(function() local x = nil; x() end)))
local e = coroutine.create(function() local ok, m = pcall(function() coroutine.yield(1) error("after", 0) end) coroutine.yield(ok, m) error({}) end)
print(coroutine.resume(e)) print(coroutine.resume(e)) local ok, t = coroutine.resume(e) print(ok, type(t)) print(coroutine.resume(e))
print(pcall(coroutine.wrap(function() error("wrapped", 0) end)))
print(pcall(coroutine.yield, 1))
local self self = coroutine.create(function() return coroutine.resume(self) end)
print(coroutine.resume(self))
local outer outer = coroutine.create(function() local inner = coroutine.create(function() return coroutine.status(outer) end) return coroutine.resume(inner) end)
print(coroutine.resume(outer))
-- an error passes three resumes
local function level(n) return coroutine.wrap(function() if n == 0 then coroutine.yield() error("deep", 0) end local w = level(n - 1) w() coroutine.yield() w() end) end
local l = level(3) l() print(pcall(l))
print(coroutine.isyieldable(), coroutine.wrap(function() return coroutine.isyieldable() end)())
-- 10,000 resumes
local counter = coroutine.create(function() local n = 0 while true do n = n + coroutine.yield(n) end end)
coroutine.resume(counter)
local v for i = 1, 10000 do _, v = coroutine.resume(counter, i % 7 + id) end
print("resumed", v)
-- as many as there is room for, made and ended again and again
local total = 0
for round = 1, 60 do local many = {} for i = 1, 3 do many[i] = coroutine.wrap(function(a) for k = 1, 5 do a = a + coroutine.yield(a) end end) many[i](i) end
  for k = 1, 4 do for i = 1, 3 do total = total + many[i](k) end end many = nil if round % 2 == 0 then collectgarbage() collectgarbage() end end
print("total", total)
print("done", id)
