-- Written by `meanwhile cosched slurm`.
--
-- Jobs that will fill the link to the memory ask for it: `gres/membw:N`, N in units of 100 MB/s, is added from what the nodes'
-- daemons measured of earlier steps of the same user and name. Two that are bound by memory then never share a node, and what
-- leaves the link alone may run beside either. A mistake in here lets a job pass as it is.

local history = "@HISTORY@" -- a folder: a file a node, `USER NAME MB/s` a line
local total = @TOTAL@ -- Gres=membw:N of a node
local share = 0.4 -- of that: who moves as much is bound by memory, and gets more than half

-- What a resource is called in front of its name; a controller refuses the other one. Seen: 22.05 wants `gres:`, 24.11 `gres/`. The border,
-- 23.11, was not.
local function prefix()
    local asked = io.popen("/proc/$PPID/exe -V 2>/dev/null || slurmctld -V 2>/dev/null") -- this controller itself
    local year, month = (asked and asked:read("*l") or ""):match("(%d+)%.(%d+)")
    if asked then asked:close() end
    return year and tonumber(year) * 100 + tonumber(month) < 2311 and "gres:" or "gres/"
end
local known = nil -- the prefix, asked for when the first job needs it

local function measured(uid, name)
    local most = nil
    local all = io.popen("cat '" .. history .. "'/* 2>/dev/null")
    if not all then return nil end
    for line in all:lines() do
        local user, word, mbps = line:match("^(%d+) (%S+) (%d+)$")
        if tonumber(user) == uid and word == name and (not most or tonumber(mbps) > most) then most = tonumber(mbps) end
    end
    all:close()
    return most
end

local function asks_already(job)
    for _, it in ipairs({ job.tres_per_node or "", job.tres_per_job or "", job.tres_per_task or "", job.tres_per_socket or "" }) do
        if it:find("membw", 1, true) then return true end
    end
    return false
end

function slurm_job_submit(job, parts, uid)
    -- A job that shares its node with nobody needs none.
    if job.shared == 0 or asks_already(job) then return slurm.SUCCESS end
    -- --membw of sbatch, then what was seen.
    local said = job.environment and job.environment["_SLURM_SPANK_OPTION_cosched_membw"]
    local name = (job.name or ""):gsub("[^A-Za-z0-9._+-]", "_")
    local mbps = tonumber(said) or measured(job.user_id or uid, name)
    if not mbps then return slurm.SUCCESS end
    local units = math.ceil(mbps / 100)
    if units >= share * total then units = math.max(units, math.floor(total / 2) + 1) end
    units = math.min(units, total)
    if units > 0 then
        known = known or prefix()
        local own = job.tres_per_node
        job.tres_per_node = (own and own ~= "" and own .. "," or "") .. known .. "membw:" .. units
        slurm.log_user("cosched: gres/membw:%d was added, %d MB/s expected", units, mbps)
    end
    return slurm.SUCCESS
end

function slurm_job_modify(job, old, parts, uid)
    return slurm.SUCCESS
end
