import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import {
  archiveWorkflow,
  createWorkflow,
  duplicateWorkflow,
  getWorkflow,
  getWorkflowVersion,
  publishWorkflow,
  restoreWorkflowVersion,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { newTenant } from '../support/tenant'
import { outcome, RUNNABLE } from './support'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  owner = await newTenant(database)
})
afterAll(() => database.close())

const times = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** Name and description are always equal, so that a mixture of two versions shows. */
const content = (text: string) => ({ name: text, description: text })

describe('at the same moment', () => {
  test('of saves based on the same version, exactly one succeeds', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await createWorkflow(owner, RUNNABLE)
      const results = await times(8, (index) =>
        outcome(updateWorkflow(owner, { id, body: { name: `n${index}` }, ifMatch: '"1"' })),
      )
      const won = results.filter((result) => result !== 'VERSION_CONFLICT')
      expect(won).toHaveLength(1)
      expect(await getWorkflow(owner, { id })).toEqual(won[0])
    }
  })

  test('without a precondition, every save gets its own version', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const saved = await times(8, (index) => updateWorkflow(owner, { id, body: { name: `n${index}` } }))
    expect(saved.map(({ version }) => version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('saves of different fields lose nothing', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await Promise.all([
      updateWorkflow(owner, { id, body: { name: 'New name' } }),
      updateWorkflow(owner, { id, body: { description: 'New text' } }),
      updateWorkflow(owner, { id, body: { payload: { who: { type: 'string' } } } }),
    ])
    const payload = { who: { type: 'string' } }
    expect(await getWorkflow(owner, { id })).toMatchObject({ name: 'New name', description: 'New text', payload })
  })

  test('a publish and a save: the published version is one of the two, complete, and stays published', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await createWorkflow(owner, RUNNABLE)
      // Not the first version, so that the simultaneous save may replace it.
      await updateWorkflow(owner, { id, body: content('old') })
      const [published] = await Promise.all([
        publishWorkflow(owner, { id }),
        updateWorkflow(owner, { id, body: content('new') }),
      ])
      const version = await getWorkflowVersion(owner, { id, version: 'published' })
      expect(version.version).toBe(published.publishedVersion)
      expect(version).toMatchObject(content(version.version === 2 ? 'old' : 'new'))
      expect(version.publishedAt).not.toBeNull()
      expect(await getWorkflow(owner, { id })).toMatchObject({ ...content('new'), version: 3, status: 'published' })
    }
  })

  test('a save and an archive: either the save came first or it was refused', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await createWorkflow(owner, RUNNABLE)
      const [saved] = await Promise.all([
        outcome(updateWorkflow(owner, { id, body: { name: 'new' } })),
        archiveWorkflow(owner, { id }),
      ])
      const refused = saved === 'WORKFLOW_ARCHIVED'
      expect(await getWorkflow(owner, { id })).toMatchObject({ status: 'archived', name: refused ? 'Order' : 'new' })
    }
  })

  test('a restore and a save: both are in the history', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await updateWorkflow(owner, { id, body: { name: 'second' } })
    await Promise.all([
      restoreWorkflowVersion(owner, { id, version: '1' }),
      updateWorkflow(owner, { id, body: { description: 'saved' } }),
    ])
    expect(await getWorkflow(owner, { id })).toHaveProperty('version', 4)
  })
})

describe('while autosaves come in', () => {
  /** Saves one version after the other while `other` runs. */
  async function during(id: string, saves: number, other: () => Promise<unknown>) {
    let done = false
    const seen: unknown[] = []
    const others = times(3, async () => {
      while (!done) seen.push(await outcome(other()))
    })
    for (let index = 0; index < saves; index++) await updateWorkflow(owner, { id, body: content(`n${index}`) })
    done = true
    await others
    return seen
  }

  test('a reader always gets one complete version of the definition', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, ...content('start') })
    const seen = (await during(id, rounds(20, 200), () => getWorkflow(owner, { id }))) as {
      name: string
      description: string
    }[]
    expect(seen.length).toBeGreaterThan(20)
    expect(seen.filter((result) => typeof result === 'string')).toEqual([])
    for (const { name, description } of seen) expect(description).toBe(name)
  })

  test('a clone is a copy of one complete version', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, ...content('start') })
    const seen = (await during(id, rounds(15, 150), () => duplicateWorkflow(owner, { id }))) as {
      name: string
      description: string
    }[]
    expect(seen.length).toBeGreaterThan(10)
    expect(seen.filter((result) => typeof result === 'string')).toEqual([])
    for (const { name, description } of seen) expect(name).toBe(`${description} (Copy)`)
  })

  test('a draft can be started, and its run keeps that version', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, ...content('start') })
    const seen = await during(id, rounds(20, 200), () => startRun(owner, { workflowId: id, body: {} }))
    expect(seen.length).toBeGreaterThan(10)
    expect(seen.filter((result) => typeof result === 'string')).toEqual([])
    const pinned = await database.db
      .selectDistinct({ version: runs.workflowVersion, name: runs.workflowName })
      .from(runs)
      .where(eq(runs.workflowId, id))
    expect(pinned.length).toBeGreaterThan(1)
    for (const { version, name } of pinned)
      expect(await getWorkflowVersion(owner, { id, version: String(version) })).toHaveProperty('name', name)
  })
})

test('a start that overlaps a permanent delete leaves no run on a deleted workflow', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const [started, deleted] = await Promise.all([
      outcome(startRun(owner, { workflowId: id, body: {} })),
      archiveWorkflow(owner, { id }).then(() => outcome(deleteWorkflowPermanently(owner, { id }))),
    ])
    if (typeof started === 'string') expect(deleted).toEqual({ id, deleted: true })
    else expect(deleted).toBe('CONFLICT')
  }
})
