import { afterAll, beforeAll, expect, test } from 'vitest'
import { createMember } from '@/server/members/create'
import { createGroup } from '@/server/members/groups/create'
import { deleteGroup } from '@/server/members/groups/delete'
import { updateGroup } from '@/server/members/groups/update'
import { createInvitation } from '@/server/members/invitations/create'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
const ids: Record<string, string> = {}
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  for (const [name, role] of [
    ['ada', 'operator'],
    ['vera', 'viewer'],
  ]) {
    const member = { email: `${name}@example.com`, name, role, password: 'a-long-password' }
    ids[name ?? ''] = (await createMember(runtime.ctx, member)).userId
  }
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

/** The warnings about assignees when a workflow with one form is published. */
async function warnings(...assignees: string[]) {
  const form = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, assignees }
  const { id } = await createWorkflow(runtime.ctx, { name: 'Ask', steps: [form] })
  const { warnings } = await publishWorkflow(runtime.ctx, { id })
  return warnings.filter(({ code }) => code === 'W_ASSIGNEE')
}

test('an assignee who is nobody gets a warning, which names a similar address, and publishing goes on', async () => {
  expect(await warnings('user:adaa@example.com', 'role:admin')).toEqual([
    {
      ...{ severity: 'warning', code: 'W_ASSIGNEE', stepId: 'ask', field: 'assignees' },
      message:
        'adaa@example.com is not a member of this workspace, so they cannot answer in its inbox. Did you mean ada@example.com?',
      suggestion: 'ada@example.com',
    },
  ])
  expect(await warnings('user:new@elsewhere.example')).toMatchObject([
    { message: expect.stringContaining('Invite them, or correct the address.') },
  ])
  const gone = `usr_${'0'.repeat(26)}`
  expect(await warnings(`user:${gone}`)).toMatchObject([{ message: expect.stringContaining(gone) }])
})

test('members who may answer, invited people, subjects of tokens and expressions get none', async () => {
  const none = ['user:Ada@example.com', `user:${ids.ada}`, 'role:owner', 'user:bob', 'user:customer-17', 'user:${who}']
  expect(await warnings(...none.slice(0, -1))).toEqual([])
  const fresh = 'user:new.colleague@example.com'
  expect(await warnings(fresh)).toHaveLength(1)
  await createInvitation(runtime.ctx, { email: 'new.colleague@example.com', role: 'operator' })
  expect(await warnings(fresh)).toEqual([])
})

test('a member whose role may not answer gets one', async () => {
  expect(await warnings('user:vera@example.com')).toMatchObject([
    { message: 'vera@example.com has the role viewer, which may not answer tasks. Give them the role operator.' },
  ])
})

test('so do people to whom a task is handed over after its reminders', async () => {
  const form = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }
  const reminders = { after: 'P1D', handTo: ['user:vera@example.com', 'user:ada@example.com', 'group:Nobodys'] }
  const { id } = await createWorkflow(runtime.ctx, { name: 'Ask', steps: [{ ...form, reminders }] })
  const { warnings } = await publishWorkflow(runtime.ctx, { id })
  expect(warnings.filter(({ code }) => code === 'W_ASSIGNEE')).toMatchObject([
    { field: 'reminders.handTo', message: expect.stringContaining('vera@example.com') },
    { field: 'reminders.handTo', message: expect.stringContaining('no group Nobodys') },
  ])
})

test('a group that does not exist, is renamed, or has nobody who may answer gets one, which names what was meant', async () => {
  const { id } = await createGroup(runtime.ctx, { name: 'Finance', memberIds: [ids.ada ?? ''] })
  await createGroup(runtime.ctx, { name: 'Watchers', memberIds: [ids.vera ?? ''] })
  expect(await warnings('group:finance')).toEqual([])
  expect(await warnings('group:Finances')).toEqual([
    {
      ...{ severity: 'warning', code: 'W_ASSIGNEE', stepId: 'ask', field: 'assignees', suggestion: 'Finance' },
      message: 'The workspace has no group Finances, so nobody in it can answer. Did you mean Finance?',
    },
  ])
  expect(await warnings('group:Shipping')).toMatchObject([
    { message: expect.stringContaining('Create the group, or correct the name.') },
  ])
  expect(await warnings('group:watchers')).toMatchObject([
    { message: expect.stringMatching(/^Nobody in the group Watchers may answer tasks\./) },
  ])
  await updateGroup(runtime.ctx, { id, body: { name: 'Accounts' } })
  expect(await warnings('group:Finance', 'group:Accounts')).toMatchObject([
    { message: expect.stringMatching(/^The group Finance is called Accounts now\./), suggestion: 'Accounts' },
  ])
  await deleteGroup(runtime.ctx, { id })
  expect(await warnings('group:Accounts')).toHaveLength(1)
})
