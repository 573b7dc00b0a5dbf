import { and, desc, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { pauses } from '@/db/schema/runs'
import { heldAnswers } from '@/db/schema/tasks'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { GivenAnswer, PauseSignal, Refusal } from '../../definition/run'
import { askedFields } from '../../runs/asked-fields'
import { isVote } from '../../runs/may-answer'
import type { Masker } from '../../vault/mask'
import { asDeclared } from '../as-declared'
import { type CutValue, cutValue } from '../value'

/** An answer that can still be undone. If votes decide, people see only their own. */
export interface ShownHeld {
  /** Whether it is the viewer's. */
  own: boolean
  name: string
  /** The action's label; null for a form. */
  label: string | null
  /** The viewer's remark. */
  remark: string | null
  /** How long it can still be undone. A duration, because the browser's clock may differ from the server's. */
  leftMs: number
}

/** A rejected answer of the viewer. */
export interface ShownRefusal extends Refusal {
  /** The action's label; null for a form. */
  label: string | null
  /** The form data. */
  data: CutValue | null
  /** The remark with it. */
  remark: string | null
}

interface HeldHere {
  held: ShownHeld | null
  refused: ShownRefusal | null
}

/** The held answers of a run's pauses, and why the viewer's answers were rejected. */
export async function readHeld(
  ctx: ServiceContext,
  runId: string,
  masker: Masker,
): Promise<(pauseId: string, signal: PauseSignal) => HeldHere> {
  const rows = await ctx.db
    .select({ held: heldAnswers, name: users.name })
    .from(heldAnswers)
    .leftJoin(users, eq(users.id, heldAnswers.person))
    .where(and(eq(heldAnswers.tenantId, ctx.tenantId), eq(heldAnswers.runId, runId)))
  return (pauseId, signal) => {
    const here = rows.filter(({ held }) => held.pauseId === pauseId)
    const mine = here.find(({ held }) => held.person === ctx.actor.id)
    const others = isVote(signal) ? [] : here.filter((row) => row !== mine)
    const open = [...(mine ? [mine] : []), ...others].find(({ held }) => held.refused === null)
    const refusal = mine?.held.refused ?? null
    return {
      held: open
        ? {
            own: open === mine,
            name: open.name ?? 'Somebody',
            // Someone else's choice may still change.
            label: open === mine ? labelOf(signal, open.held.answer, masker) : null,
            remark: open === mine ? remarkOf(open.held.answer, masker) : null,
            leftMs: Math.max(0, open.held.until.getTime() - ctx.now().getTime()),
          }
        : null,
      refused: mine && refusal ? { ...refusal, ...whatWasGiven(signal, mine.held.answer, masker) } : null,
    }
  }
}

function labelOf(signal: PauseSignal, answer: GivenAnswer, masker: Masker): string | null {
  if (answer.type === 'collect_inputs' || signal.type !== 'request_user_action') return null
  return masker.text(signal.actions.find(({ id }) => id === answer.actionId)?.label ?? answer.actionId)
}

function whatWasGiven(signal: PauseSignal, answer: GivenAnswer, masker: Masker) {
  const names = Object.keys(askedFields(signal, answer))
  const data = answer.data && names.length > 0 ? asDeclared(cutValue(answer.data, masker), names) : null
  return { label: labelOf(signal, answer, masker), data, remark: remarkOf(answer, masker) }
}

function remarkOf(answer: GivenAnswer, masker: Masker): string | null {
  return answer.type === 'request_user_action' && answer.remark ? masker.text(answer.remark) : null
}

const SHOWN = 20

/** The caller's rejected answers, latest first. */
export async function listRefused(ctx: ServiceContext) {
  authorize(ctx, 'task:read')
  const rows = await ctx.db
    .select({ runId: heldAnswers.runId, pauseId: heldAnswers.pauseId, at: heldAnswers.heldAt })
    .from(heldAnswers)
    .where(
      and(eq(heldAnswers.tenantId, ctx.tenantId), eq(heldAnswers.person, ctx.actor.id), isNotNull(heldAnswers.refused)),
    )
    .orderBy(desc(heldAnswers.heldAt))
    .limit(SHOWN)
  return rows.map(({ at, ...row }) => ({ ...row, at: at.toISOString() }))
}

const here = sql`h.tenant_id = ${pauses.tenantId} and h.run_id = ${pauses.runId} and h.pause_id = ${pauses.id}
  and h.refused is null`

/** Whether an actor has answered a pause and can still undo it. */
export function heldBy(person: string): SQL {
  return sql`exists (select from ${heldAnswers} h where ${here} and h.person = ${person})`
}

/** The name of another person whose answer to a pause is held; null if votes decide. */
export const answering = sql<string | null>`case when ${pauses.signal}->'needs' is null then (
  select coalesce(u.name, 'Somebody') from ${heldAnswers} h left join ${users} u on u.id = h.person
  where ${here} limit 1) end`
