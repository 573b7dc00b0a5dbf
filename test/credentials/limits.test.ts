import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { authenticate } from '@/server/auth/authenticate'
import type { ServiceContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { browseSigningSecrets } from '@/server/views/credentials/signing-secrets'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { bearer, claims, mint, NOW } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.JWT_AUDIENCE = 'app.example.com'
  process.env.LOG_LEVEL = 'silent'
})

let database: FreshDatabase
let ctx: ServiceContext
let workflowId: string
let agentId: string
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  workflowId = (await createWorkflow(ctx, { name: 'W', steps: [] })).id
  agentId = (await newAgent(ctx, {})).id
})
afterAll(() => database.close())

const NO_LIMITS = { workflowIds: null, agentIds: null, ownRuns: false }
const create = (more: object) => createSigningSecret(ctx, { name: 'S', ...more })

describe('the limits of a signing secret', () => {
  test('are not lifted by a body that leaves some out or misspells them', async () => {
    const { id } = await create({ workflowIds: [workflowId], ownRuns: true })
    for (const limits of [{}, { ownRuns: true }, { ...NO_LIMITS, workflowIDs: [workflowId] }])
      await expect(limitSigningSecret(ctx, { id, limits })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(create({ workflowIDs: [workflowId] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const [secret] = (await browseSigningSecrets(ctx)).secrets.filter((row) => row.id === id)
    expect(secret).toMatchObject({ workflowIds: [workflowId], ownRuns: true })
  })

  test('apply to its tokens from then on, and none do where none are set', async () => {
    const reachOf = async (made: { id: string; secret: string }) =>
      (
        await authenticate(
          bearer(mint({ alg: 'HS256', kid: made.id }, claims(), made.secret)),
          database.db,
          NOW,
          'Unauthorized',
          'req-00000000',
        )
      ).reach
    const limited = await create({ workflowIds: [workflowId, workflowId], ownRuns: true })
    expect(await reachOf(limited)).toEqual({ workflowIds: [workflowId], agentIds: null, ownRuns: true })
    await limitSigningSecret(ctx, { id: limited.id, limits: { ...NO_LIMITS, agentIds: [] } })
    expect(await reachOf(limited)).toEqual({ workflowIds: null, agentIds: [], ownRuns: false })
    await limitSigningSecret(ctx, { id: limited.id, limits: NO_LIMITS })
    expect(await reachOf(limited)).toBeUndefined()
    expect(await reachOf(await create({}))).toBeUndefined()
  })

  test('are listed with it', async () => {
    const { id } = await create({ workflowIds: [], agentIds: [agentId], ownRuns: false })
    const { secrets } = await browseSigningSecrets(ctx)
    expect(secrets.find((secret) => secret.id === id)).toMatchObject({
      workflowIds: [],
      agentIds: [agentId],
      ownRuns: false,
    })
  })

  test.each<[string, () => object, string]>([
    ['a workflow that is not there', () => ({ workflowIds: [workflowId, 'wf_none'] }), 'workflowIds[1]'],
    ['an agent that is not there', () => ({ agentIds: ['agt_none'] }), 'agentIds[0]'],
    ['a workflow where an agent belongs', () => ({ agentIds: [workflowId] }), 'agentIds[0]'],
    ['a role that changes things', () => ({ ownRuns: true, role: 'editor' }), 'role'],
    ['more than 200', () => ({ workflowIds: Array(201).fill(workflowId) }), 'workflowIds'],
    ['a list that is none', () => ({ workflowIds: workflowId }), 'workflowIds'],
  ])('are refused with %s', async (_, limits, path) => {
    await expect(create(limits())).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [expect.objectContaining({ path })],
    })
  })

  test('name nothing of another tenant, whose secrets nobody else limits either', async () => {
    const other = await newTenant(database)
    await expect(createSigningSecret(other, { name: 'S', workflowIds: [workflowId] })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    const { id } = await create({})
    await expect(limitSigningSecret(other, { id, limits: NO_LIMITS })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const editor = withRole(ctx, 'editor')
    await expect(limitSigningSecret(editor, { id, limits: NO_LIMITS })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
