import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isId } from '../../ids'
import { parseInput } from '../../parse'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { readCalls } from './calls'
import { countDays, lastDays, MAX_DAYS } from './days'
import { type Figures, figuresOf, groupBy, type Spent, spentOf, type Waits, waitsOf } from './figures'
import { namesOf } from './names'
import {
  type AgentCount,
  type RunCount,
  readAgentCounts,
  readRunCounts,
  readWaitCounts,
  type WaitCount,
} from './read-counts'
import { readWaiting, type WaitingCount } from './waiting'

const ReadInsights = z.object({
  /** Of one workflow, or of the whole workspace. */
  workflowId: z.string().refine(isId, 'is not an id').optional(),
  days: z.union([z.literal(7), z.literal(30), z.literal(MAX_DAYS)]),
})
export type ReadInsights = z.input<typeof ReadInsights>

export interface Insights {
  /** Every day of the period, oldest first, in UTC. */
  days: (Figures & { day: string })[]
  total: Figures
  /** In the workspace's insights: the workflows with the most runs, and the cost of agents' answers in these. */
  workflows: (Figures & { id: string; name: string; agentCost: number | null })[]
  /** The answers of each day, and the tasks still waiting since that day. */
  waitDays: (Waits & { day: string })[]
  /** The steps with the longest total waiting time for people's answers. */
  waits: (Waits & {
    workflowId: string
    workflowName: string
    stepId: string
    stepName: string
    /** When the oldest waiting task began to wait. */
    since: string | null
    /** As `waitDays`; empty in the workspace's insights. */
    days: (Waits & { day: string })[]
  })[]
  /** What agents used: of a workflow in its runs, of the workspace in all calls of models. */
  spent: Spent
  /** The most expensive agents. `days` is set for the first few, oldest day first. */
  agents: (Spent & { id: string; name: string; days: Spent[] })[]
  spentDays: (Spent & { day: string })[]
  /** Past days without a count; the next read counts more of them. */
  uncounted: number
}

const MAX_ROWS = 50
/** The number of agents with a colour in the chart. */
const CHARTED = 4

/**
 * Volume, failures and durations of runs, people's waiting time, and agents' cost. Excludes tests of drafts, except from
 * what all calls of models used.
 * @throws AppError INVALID_INPUT, WORKFLOW_NOT_FOUND
 */
export async function readInsights(ctx: ServiceContext, input: unknown): Promise<Insights> {
  authorize(ctx, 'run:read')
  const { workflowId, days: count } = parseInput(ReadInsights, input)
  if (workflowId !== undefined) await findRow(ctx, WORKFLOW, workflowId)
  const days = lastDays(ctx.now(), count)
  const { live, later } = await countDays(ctx, days)
  const period = { days, live, workflowId }
  const oldestFirst = days.toReversed()
  const [counts, answered, waiting, inRuns, calls] = await Promise.all([
    readRunCounts(ctx, period),
    readWaitCounts(ctx, period),
    readWaiting(ctx, workflowId),
    readAgentCounts(ctx, period),
    workflowId === undefined ? readCalls(ctx, oldestFirst, MAX_ROWS, CHARTED) : null,
  ])
  const busiest = workflowId === undefined ? busiestOf(counts.workflows, inRuns) : []
  const steps = stepsOf(answered, waiting, workflowId === undefined ? [] : oldestFirst)
  const { spent, spentDays, agents } = calls ?? answersOf(inRuns, oldestFirst)
  const names = await namesOf(ctx, {
    workflows: [...busiest.map(({ id }) => id), ...steps.map((step) => step.workflowId)],
    agents: agents.map(({ id }) => id),
  })
  return {
    days: oldestFirst.map((day) => ({ day, ...figuresOf(counts.days.get(day) ?? []) })),
    total: figuresOf([...counts.days.values()].flat()),
    workflows: busiest.map((row) => ({ ...row, name: names.workflow(row.id) })),
    waitDays: daysOf(answered, waiting, oldestFirst),
    waits: steps.map((step) => ({
      ...step,
      workflowName: names.workflow(step.workflowId),
      stepName: names.step(step.workflowId, step.stepId),
    })),
    spent,
    agents: agents.map((agent) => ({ ...agent, name: names.agent(agent.id) })),
    spentDays,
    uncounted: later.length,
  }
}

function busiestOf(counts: Map<string, RunCount[]>, spent: readonly AgentCount[]) {
  const spentIn = groupBy(spent, (row) => row.workflowId)
  const sumOf = ({ succeeded, failed, stopped }: Figures) => succeeded + failed + stopped
  return [...counts]
    .map(([id, rows]) => ({ id, ...figuresOf(rows), agentCost: spentOf(spentIn.get(id) ?? []).cost }))
    .sort((a, b) => sumOf(b) - sumOf(a))
    .slice(0, MAX_ROWS)
}

function stepsOf(answered: readonly WaitCount[], waiting: readonly WaitingCount[], days: string[]) {
  const key = (row: { workflowId: string; stepId: string }) => `${row.workflowId} ${row.stepId}`
  const [answers, open] = [groupBy(answered, key), groupBy(waiting, key)]
  return [...new Set([...answers.keys(), ...open.keys()])]
    .map((place) => {
      const [rows, openRows] = [answers.get(place) ?? [], open.get(place) ?? []]
      const [workflowId = '', stepId = ''] = place.split(' ')
      const [since = null] = openRows.map((row) => row.since).sort()
      return { workflowId, stepId, ...waitsOf(rows, openRows), since, rows, openRows }
    })
    .sort((a, b) => (b.p50 ?? 0) * b.answers - (a.p50 ?? 0) * a.answers || b.waiting - a.waiting)
    .slice(0, MAX_ROWS)
    .map(({ rows, openRows, ...step }) => ({ ...step, days: daysOf(rows, openRows, days) }))
}

function daysOf(answered: readonly WaitCount[], waiting: readonly WaitingCount[], days: string[]) {
  const [answers, open] = [groupBy(answered, ({ day }) => day), groupBy(waiting, ({ day }) => day)]
  return days.map((day) => ({ day, ...waitsOf(answers.get(day) ?? [], open.get(day) ?? []) }))
}

/** Agents' answers in the runs of a workflow. */
function answersOf(spent: readonly AgentCount[], days: string[]) {
  const tokens = (one: Spent) => one.inputTokens + one.outputTokens
  const ofDay = groupBy(spent, ({ day }) => day)
  const agents = [...groupBy(spent, ({ agentId }) => agentId)]
    .map(([id, rows]) => ({ id, ...spentOf(rows), rows }))
    .sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || tokens(b) - tokens(a))
    .slice(0, MAX_ROWS)
    .map(({ rows, ...agent }, place) => {
      const byDay = groupBy(rows, ({ day }) => day)
      return { ...agent, days: place < CHARTED ? days.map((day) => spentOf(byDay.get(day) ?? [])) : [] }
    })
  return { spent: spentOf(spent), spentDays: days.map((day) => ({ day, ...spentOf(ofDay.get(day) ?? []) })), agents }
}
