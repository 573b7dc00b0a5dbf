import { and, asc, desc, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { pauses, pauseVotes, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { inOrder } from '../../definition/declared'
import type { Vote } from '../../definition/people'
import type { PauseSignal } from '../../definition/run'
import type { Fields } from '../../definition/schema'
import { recordOfPause } from '../../run-store/conditions'
import { maskWords } from '../../runs/mask-words'
import { signalOf, withoutPreset } from '../../runs/present'
import type { RunMasker } from '../../vault/hide'
import type { Masker } from '../../vault/mask'
import type { AnswererName } from '../actors'
import { answerAsDeclared, labelsOf } from '../as-declared'
import type { Ended } from '../tasks/ended'
import { type CutValue, PREVIEW_CHARS, showStart, type ValueStart, valueStart } from '../value'
import { answerLabel, expired } from './answer-label'

/** How many of the latest to show. */
export const ANSWERS = 50
export const NOTHING: ValueStart = { size: 4, text: 'null' }
const NO_ANSWER: CutValue = { size: 4, value: null }

/** The open pauses, and the latest that were answered, expired, or were withdrawn after a vote. */
export function readPauses(ctx: ServiceContext, runId: string) {
  const ofRun = and(eq(pauses.tenantId, ctx.tenantId), eq(pauses.runId, runId))
  const voted = sql`exists (select from ${pauseVotes} v
    where v.tenant_id = ${pauses.tenantId} and v.run_id = ${pauses.runId} and v.pause_id = ${pauses.id})`
  const latest = ctx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(and(ofRun, isNotNull(pauses.signal), isNotNull(pauses.answeredAt), or(isNotNull(pauses.answer), voted)))
    .orderBy(desc(pauses.createdAt), desc(pauses.id))
    .limit(ANSWERS)
  return ctx.db
    .select({
      pause: {
        id: pauses.id,
        stepId: pauses.stepId,
        kind: pauses.kind,
        asks: sql<boolean>`${pauses.signal} is not null`,
        eventName: pauses.eventName,
        eventKey: pauses.eventKey,
        childRunId: pauses.childRunId,
        createdAt: pauses.createdAt,
        dueAt: pauses.dueAt,
        answeredAt: pauses.answeredAt,
        answeredBy: pauses.answeredBy,
        answeredVia: pauses.answeredVia,
        title: sql<string | null>`${pauses.signal}->>'title'`,
        /** Only of a task without an answer. */
        signal: sql<PauseSignal | null>`case when ${pauses.answer} is null or ${expired} then ${pauses.signal} end`,
        expired,
        answer: valueStart(pauses.answer),
        label: answerLabel,
        // Without what was filled in if the answer is too large to be shown.
        votes: sql<Vote[] | null>`case when octet_length(${pauses.answer}::text) <= ${PREVIEW_CHARS}::int
          then ${pauses.answer}->'votes' else (select jsonb_agg(v - 'data' - 'remark')
            from jsonb_array_elements(${pauses.answer}->'votes') v) end`,
        actionId: sql<string | null>`${pauses.answer}->>'actionId'`,
      },
      stepName: stepRecords.stepName,
      reminders: stepRecords.reminders,
    })
    .from(pauses)
    .leftJoin(stepRecords, recordOfPause)
    .where(and(ofRun, or(isNull(pauses.answeredAt), inArray(pauses.id, latest))))
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
}

export function presentTimer({ pause, stepName }: Asked, masker: Masker) {
  const { stepId, dueAt, eventName, eventKey, childRunId } = pause
  const words = maskWords({ stepId, stepName: stepName ?? stepId, eventName, eventKey }, masker)
  return { ...words, childRunId, dueAt: dueAt?.toISOString() ?? null }
}

type Asked = Awaited<ReturnType<typeof readPauses>>[number]

export function presentOpen({ pause, stepName }: Asked, masker: Masker) {
  const { id, stepId, createdAt, dueAt } = pause
  const times = { createdAt: createdAt.toISOString(), dueAt: dueAt?.toISOString() ?? null }
  return maskWords(
    { id, stepId, stepName: stepName ?? stepId, ...times, signal: withoutPreset(signalOf(pause)) },
    masker,
  )
}

export function presentAnswer(
  pause: Asked['pause'],
  stepName: string | null,
  form: Fields,
  masker: RunMasker,
  answererOf: (pause: Asked['pause']) => AnswererName | null,
) {
  if (!pause.answeredAt) return []
  const ended: Ended = pause.expired ? 'expired' : pause.answer === null ? 'withdrawn' : 'answered'
  return [
    {
      id: pause.id,
      stepId: pause.stepId,
      ended,
      ...maskWords({ stepName: stepName ?? pause.stepId, title: pause.title, label: pause.label }, masker),
      kind: pause.kind,
      createdAt: pause.createdAt.toISOString(),
      answeredAt: pause.answeredAt.toISOString(),
      answeredBy: ended === 'answered' ? answererOf(pause) : null,
      answer: ended === 'answered' ? answerAsDeclared(showStart(pause.answer ?? NOTHING, masker), form) : NO_ANSWER,
      /** The form's labels of the fields. */
      labels: labelsOf(form, masker.vault),
      /** If votes decided: who voted for the chosen action, the number of votes, and what was filled in with each. */
      votes: pause.votes && wonBy(masker.json(pause.votes), masker.text(pause.actionId ?? ''), Object.keys(form)),
    },
  ]
}

function wonBy(votes: Vote[], chosen: string, fields: readonly string[]) {
  return {
    cast: votes.length,
    names: votes.filter(({ actionId }) => actionId === chosen).map(({ name }) => name),
    filledIn: votes.flatMap(({ by, name, data }) => (data ? [{ by, name, data: inOrder(data, fields) }] : [])),
  }
}
