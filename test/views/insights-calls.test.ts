import { afterAll, beforeAll, expect, test } from 'vitest'
import { countUsage } from '@/server/agents/usage'
import type { ServiceContext } from '@/server/context'
import { readInsights } from '@/server/views/insights/read'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const NOW = new Date('2026-11-20T12:00:00Z')
const DAY = 86_400_000
const at = (ctx: ServiceContext, now = NOW): ServiceContext => ({ ...ctx, now: () => now })

test('of the workspace count each call of a model, wherever its agent was called, by agent and day', async () => {
  const ctx = at(await newTenant(database))
  const other = at(await newTenant(database))
  const use = (agentId: string, daysAgo: number, tokens: number, cost: number | null, where = ctx) =>
    countUsage(
      at(where, new Date(NOW.getTime() - daysAgo * DAY)),
      agentId,
      { input: tokens, cached: 0, written: 0, output: 1 },
      cost,
    )
  const dear = await newAgent(ctx, { name: 'Dear' })
  await use(dear.id, 6, 10, 0.25)
  await use(dear.id, 0, 20, 0.5)
  await use(dear.id, 0, 20, 0.5)
  // No price is known, and it is deleted.
  await use('agt_gone', 1, 5_000, null)
  await use('agt_free', 1, 6, null)
  await use(dear.id, 7, 1_000, 9)
  await use(dear.id, 0, 1_000, 9, other)
  for (let nth = 0; nth < 3; nth++) await use(`agt_${nth}`, 2, 1, 0.001 * (nth + 1))

  const { spent, agents, spentDays } = await readInsights(ctx, { days: 7 })
  const total = { count: 8, inputTokens: 5_059, outputTokens: 8, unpriced: 0 }
  expect(spent).toEqual({ ...total, cost: expect.closeTo(1.256, 9) })
  expect(agents.map(({ name, count, inputTokens, cost }) => [name, count, inputTokens, cost])).toEqual([
    ['Dear', 3, 50, 1.25],
    ['agt_2', 1, 1, 0.003],
    ['agt_1', 1, 1, 0.002],
    ['agt_0', 1, 1, 0.001],
    ['agt_gone', 1, 5_000, null],
    ['agt_free', 1, 6, null],
  ])
  expect(spentDays.map(({ day, count }) => [day, count])).toEqual([
    ['2026-11-14', 1],
    ['2026-11-15', 0],
    ['2026-11-16', 0],
    ['2026-11-17', 0],
    ['2026-11-18', 3],
    ['2026-11-19', 2],
    ['2026-11-20', 2],
  ])
  expect(agents[0]?.days.map(({ cost }) => cost)).toEqual([0.25, null, null, null, null, null, 1])
  expect(agents.map(({ days }) => days.length)).toEqual([7, 7, 7, 7, 0, 0])
  // They were not made in its runs.
  const { id: workflowId } = await createWorkflow(ctx, { name: 'W', steps: [{ id: 'end', type: 'end-flow' }] })
  expect((await readInsights(ctx, { workflowId, days: 7 })).spent).toMatchObject({ count: 0, cost: null })
  expect(await readInsights(at(await newTenant(database)), { days: 7 })).toMatchObject({ agents: [] })
})
