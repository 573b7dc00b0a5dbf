import type { Sql } from '@/db/index'
import { withDeadline } from '@/db/index'
import { auditRules } from './audit'
import { engineRules } from './engine'
import { FORGED, refused } from './finality'
import { moveRules } from './moves'
import { pauseRules, recordRules } from './records'
import type { Rule, Violation } from './rule'
import { runRules } from './runs'
import { turnRules } from './turns'
import { versionRules } from './versions'
import { voteRules } from './votes'

export interface CheckOptions {
  /** False if no embedded engine works on the runs, so that nothing continues them. */
  engine?: boolean
}

/** Large runs take long on a slow machine, and a soak leaves many. The limit ends a check that hangs. */
const LONGEST_MS = 900_000

/**
 * Everything in the database that violates an invariant of runs. Can be called at any moment, because it reads one
 * snapshot: under load, with dead processes, and when idle.
 */
export async function checkInvariants(sql: Sql, { engine = true }: CheckOptions = {}): Promise<Violation[]> {
  const rules = [
    ...runRules,
    ...recordRules,
    ...pauseRules,
    ...voteRules,
    ...turnRules,
    ...auditRules,
    ...versionRules,
    ...moveRules,
    ...(engine ? engineRules : []),
  ]
  const [{ forged } = { forged: false }] = await sql<{ forged: boolean }[]>`
    select to_regclass(${FORGED}) is not null as forged`
  const rows = await withDeadline(LONGEST_MS, () =>
    sql.unsafe<{ rule: number; found: string }[]>(statement(rules, forged)),
  )
  const broken = rows.flatMap(({ rule, found }) => {
    const known = rules[rule]
    return known ? [{ name: known.name, says: known.says, where: found }] : []
  })
  return [...broken, ...(await refused(sql))]
}

/** Fails with a sentence for each violation. */
export async function expectInvariants(sql: Sql, options: CheckOptions = {}): Promise<void> {
  const broken = await checkInvariants(sql, options)
  if (broken.length === 0) return
  const lines = broken.slice(0, 20).map(({ name, says, where }) => `  ${name}: ${says}. Not so: ${where}`)
  throw new Error(`${broken.length} violations of invariants:\n${lines.join('\n')}`)
}

/** One statement, so that all rules see the same snapshot. */
function statement(rules: Rule[], forged: boolean): string {
  const genuine = (table: string, id: string) =>
    `select * from ${table} ${forged ? `where not exists (select 1 from ${FORGED} f where f.run_id = ${table}.${id})` : ''}`
  const found = rules.map(({ broken }, rule) => `select ${rule} as rule, found from (${broken}) broken_${rule}(found)`)
  return `
    with r as materialized (${genuine('runs', 'id')}),
    s as materialized (${genuine('step_records', 'run_id')}),
    p as materialized (${genuine('pauses', 'run_id')}),
    w as materialized (${genuine('walks', 'run_id')}),
    v as materialized (${genuine('pause_votes', 'run_id')}),
    t as materialized (${genuine('agent_turns', 'run_id')}),
    c as materialized (
      select c.* from agent_calls c join t on t.tenant_id = c.tenant_id and t.id = c.turn_id),
    carrier as materialized (
      select e.id, e.status, handler, data->>'tenantId' as tenant_id, data->>'runId' as run_id, data->>'branch' as branch,
        (data->>'epoch')::int as epoch, (data->>'segment')::int as segment
      from (
        select id, status, event from engine.runs
        union all select run_id, 'running', event from engine.jobs where event is not null) e
      cross join lateral (
        select e.event::json->>'name' = 'inngest/function.failed' as handler) event
      cross join lateral (
        select case when handler then e.event::json->'data'->'event'->'data' else e.event::json->'data' end as data) walk
      where e.event like '%"workflow/walk.requested"%'),
    sent as materialized (
      select o.id, o.tenant_id, o.name, o.data->>'runId' as run_id, o.data->>'branch' as branch,
        (o.data->>'epoch')::int as epoch, (o.data->>'segment')::int as segment
      from outbox o)
    ${found.join('\nunion all\n')}`
}
