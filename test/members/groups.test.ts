import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createGroup } from '@/server/members/groups/create'
import { deleteGroup } from '@/server/members/groups/delete'
import { getGroup, listGroups } from '@/server/members/groups/read'
import { updateGroup } from '@/server/members/groups/update'
import { leaveTenant } from '@/server/members/leave'
import { removeMember } from '@/server/members/remove'
import { ROLES } from '@/server/roles'
import { createWorkflow, publishWorkflow, updateWorkflow, WORKFLOWS } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { newMember } from './people'

let database: FreshDatabase
let tenant: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  tenant = await newTenant(database)
})

const asks = (...assignees: string[]) => [
  { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, assignees },
]
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (err: { code: string }) => err.code,
  )

test('a group has a name and members, both of which change', async () => {
  const [ada, bob] = await Promise.all(
    ['operator', 'editor'].map((role) => newMember(database, tenant, role as 'editor')),
  )
  const made = await createGroup(tenant, { name: ' Finance ', memberIds: [ada?.userId, ada?.userId] })
  expect(made).toMatchObject({ name: 'Finance', earlierNames: [], memberIds: [ada?.userId] })
  const both = [ada?.userId, bob?.userId]
  const more = await updateGroup(tenant, { id: made.id, body: { memberIds: both } })
  expect(new Set(more.memberIds)).toEqual(new Set(both))
  expect(await updateGroup(tenant, { id: made.id, body: { name: 'Accounts' } })).toMatchObject({
    ...{ name: 'Accounts', earlierNames: ['finance'], memberIds: more.memberIds },
  })
  expect(await listGroups(tenant)).toEqual([expect.objectContaining({ id: made.id, name: 'Accounts' })])
  await updateGroup(tenant, { id: made.id, body: { memberIds: [] } })
  expect(await getGroup(tenant, { id: made.id })).toMatchObject({ memberIds: [], usedBy: [] })
  expect(await deleteGroup(tenant, { id: made.id })).toEqual({ id: made.id, deleted: true })
  expect(await listGroups(tenant)).toEqual([])
  expect(await code(getGroup(tenant, { id: made.id }))).toBe('NOT_FOUND')
})

describe('a name', () => {
  test('is one group’s, however it is written, and an earlier one until another group takes it', async () => {
    const { id } = await createGroup(tenant, { name: 'Finance' })
    expect(await code(createGroup(tenant, { name: 'FINANCE' }))).toBe('CONFLICT')
    expect(await code(createGroup(tenant, { name: 'Fi\u200bnance' }))).toBe('CONFLICT')
    const other = await createGroup(tenant, { name: 'Accounts' })
    expect(await code(updateGroup(tenant, { id: other.id, body: { name: 'finance' } }))).toBe('CONFLICT')
    expect(await updateGroup(tenant, { id, body: { name: 'FINANCE' } })).toMatchObject({
      ...{ name: 'FINANCE', earlierNames: [] },
    })
    await updateGroup(tenant, { id, body: { name: 'Money' } })
    expect((await getGroup(tenant, { id })).earlierNames).toEqual(['finance'])
    await createGroup(tenant, { name: 'Finance' })
    expect((await getGroup(tenant, { id })).earlierNames).toEqual([])
    expect(await updateGroup(tenant, { id, body: { name: 'Cash' } })).toMatchObject({ earlierNames: ['money'] })
    expect(await updateGroup(tenant, { id, body: { name: 'Money' } })).toMatchObject({ earlierNames: ['cash'] })
  })

  test.each(['', ' ', 'x'.repeat(61), 'a\nb', '${team}', '\u200b', 'a\u0000'])('is not %j', async (name) => {
    expect(await code(createGroup(tenant, { name }))).toBe('INVALID_INPUT')
  })

  test('of two groups that are created at once is given once', async () => {
    const made = await Promise.all(['Finance', 'finance', 'FINANCE'].map((name) => code(createGroup(tenant, { name }))))
    expect(made.sort()).toEqual(['CONFLICT', 'CONFLICT', 'done'])
  })
})

test('admins and owners manage groups, and nobody else sees them', async () => {
  const { id } = await createGroup(tenant, { name: 'Finance' })
  for (const role of ROLES) {
    const ctx = withRole(tenant, role)
    const attempts = [
      code(listGroups(ctx)),
      code(getGroup(ctx, { id })),
      code(createGroup(ctx, { name: `Of a ${role}` })),
      code(updateGroup(ctx, { id, body: { memberIds: [] } })),
    ]
    const expected = role === 'admin' || role === 'owner' ? 'done' : 'FORBIDDEN'
    expect([role, ...(await Promise.all(attempts))]).toEqual([role, ...attempts.map(() => expected)])
  }
  expect(await code(deleteGroup(withRole(tenant, 'editor'), { id }))).toBe('FORBIDDEN')
})

test('only members of the workspace are in its groups, and who leaves it leaves them', async () => {
  const other = await newTenant(database)
  const stranger = await newMember(database, other, 'operator')
  const refused = createGroup(tenant, { name: 'Finance', memberIds: [stranger.userId, 'usr_nobody', 'a\u0000'] })
  await expect(refused).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'memberIds[0]' }, { path: 'memberIds[1]' }, { path: 'memberIds[2]' }],
  })
  expect(await listGroups(tenant)).toEqual([])
  const [ada, bob] = [await newMember(database, tenant, 'operator'), await newMember(database, tenant, 'operator')]
  const { id } = await createGroup(tenant, { name: 'Finance', memberIds: [ada.userId, bob.userId] })
  await removeMember(tenant, { userId: ada.userId })
  expect((await getGroup(tenant, { id })).memberIds).toEqual([bob.userId])
  await leaveTenant(bob.ctx)
  expect((await getGroup(tenant, { id })).memberIds).toEqual([])
})

test('an owner can be added to a group while another member is removed, neither waiting for the other', async () => {
  const owner = await newMember(database, tenant, 'owner')
  const ada = await newMember(database, tenant, 'operator')
  const { id } = await createGroup(tenant, { name: 'Finance' })
  await database.sql.begin(async (sql) => {
    await sql`select from members where user_id = ${owner.userId} for key share`
    expect(await code(removeMember(tenant, { userId: ada.userId }))).toBe('done')
  })
  await database.sql.begin(async (sql) => {
    await sql`select from members where user_id = ${owner.userId} for no key update`
    expect(await code(updateGroup(tenant, { id, body: { memberIds: [owner.userId] } }))).toBe('done')
  })
})

test('another workspace has groups of its own, of the same names', async () => {
  const other = await newTenant(database)
  const { id } = await createGroup(tenant, { name: 'Finance' })
  const theirs = await createGroup(other, { name: 'Finance' })
  expect(await listGroups(other)).toEqual([theirs])
  const attempts = [
    getGroup(other, { id }),
    updateGroup(other, { id, body: { name: 'Taken over' } }),
    deleteGroup(other, { id }),
  ]
  expect(await Promise.all(attempts.map(code))).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'])
  expect(await listGroups(tenant)).toMatchObject([{ id, name: 'Finance' }])
})

test('a group names the workflows whose draft or published version assigns tasks to it, by any of its names', async () => {
  const { id } = await createGroup(tenant, { name: 'Finance' })
  const by = async (name: string, ...assignees: string[]) =>
    (await createWorkflow(tenant, { name, steps: asks(...assignees) })).id
  const drafted = await by('Drafted', 'group:FINANCE', 'role:admin')
  const published = await by('Published', 'group:Finance')
  await publishWorkflow(tenant, { id: published })
  await updateWorkflow(tenant, { id: published, body: { steps: asks('role:admin') } })
  const gone = await by('Archived', 'group:Finance')
  await publishWorkflow(tenant, { id: gone })
  await WORKFLOWS.archive(tenant, { id: gone })
  await by('Another', 'group:Finances', 'user:group')
  const renamed = await updateGroup(tenant, { id, body: { name: 'Accounts' } })
  expect(renamed.usedBy).toEqual([
    { workflowId: drafted, name: 'Drafted', as: ['FINANCE'] },
    { workflowId: published, name: 'Published', as: ['Finance'] },
  ])
})
