import { z } from 'zod'
import { component } from '../../definition/component'
import { answer } from '../../openapi/answer'
import { endpoint } from '../../openapi/endpoint'
import { example } from '../../openapi/example'
import { time } from '../../openapi/fields'
import { createGroup } from './create'
import { deleteGroup } from './delete'
import { getGroup, listGroups } from './read'
import { CreateGroup, UpdateGroup } from './schema'
import { updateGroup } from './update'

const GROUP = 'grp_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const USER = 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const at = '2026-01-05T09:30:00.000Z'
const common = {
  parameters: { groupId: { description: 'The group.', example: GROUP } },
  tag: 'Members',
  permission: 'member:manage',
} as const

export const Group = component('Group', {
  id: z.string(),
  name: z.string(),
  earlierNames: z
    .array(z.string())
    .describe('Its names before it was renamed, in lower case. `assignees` with one of them still mean this group.'),
  memberIds: z.array(z.string()).describe('The ids of its members, by address.'),
  createdAt: time('When it was created.'),
  updatedAt: time('When its name or its members last changed.'),
})

export const GroupInUse = component('GroupInUse', {
  ...Group.shape,
  usedBy: z
    .array(
      component('NamesGroup', {
        workflowId: z.string(),
        name: z.string(),
        as: z.array(z.string()).describe('The names that the workflow uses for the group.'),
      }),
    )
    .describe('The workflows whose draft or published version assigns tasks to it, by name; at most 100.'),
})

const group = { id: GROUP, name: 'Finance', earlierNames: [], memberIds: [USER], createdAt: at, updatedAt: at }
const inUse = { ...group, usedBy: [{ workflowId: 'wf_order_approval', name: 'Order approval', as: ['Finance'] }] }
const one = (description: string) => answer(description, GroupInUse, { group: example('A group', inUse) })

export const GROUP_ENDPOINTS = {
  listGroups: endpoint({
    ...common,
    method: 'GET',
    path: '/api/groups',
    summary: 'List the groups',
    description: 'By name.',
    answers: { 200: answer('The groups.', z.array(Group), { list: example('One group', [group]) }) },
    errors: [],
    run: async ({ ctx }) => ({ body: await listGroups(ctx) }),
  }),
  createGroup: endpoint({
    ...common,
    method: 'POST',
    path: '/api/groups',
    summary: 'Create a group',
    description:
      'A named set of members, which `assignees` of a step name as `group:Finance`. At most 100 groups, each with at most 200 members.',
    headers: ['Idempotency-Key'],
    body: { schema: CreateGroup, required: true, examples: { group: example('A group', { name: 'Finance' }) } },
    answers: { 201: answer('The group.', Group, { group: example('A group', { ...group, memberIds: [] }) }) },
    errors: ['CONFLICT'],
    run: async ({ ctx, body }) => ({ status: 201, body: await createGroup(ctx, body) }),
  }),
  getGroup: endpoint({
    ...common,
    method: 'GET',
    path: '/api/groups/{groupId}',
    summary: 'Get a group',
    description: 'With the workflows that assign tasks to it.',
    answers: { 200: one('The group.') },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await getGroup(ctx, { id: params.groupId }) }),
  }),
  updateGroup: endpoint({
    ...common,
    method: 'PUT',
    path: '/api/groups/{groupId}',
    summary: 'Change a group',
    description:
      'Renames it or sets its members; fields that the body leaves out stay. Workflows and open tasks that have the earlier name still mean this group, until another group takes that name; `usedBy` lists the workflows to change.',
    body: {
      schema: UpdateGroup,
      required: true,
      examples: { name: example('Another name', { name: 'Accounting' }) },
    },
    answers: { 200: one('The group.') },
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params, body }) => ({ body: await updateGroup(ctx, { id: params.groupId, body }) }),
  }),
  deleteGroup: endpoint({
    ...common,
    method: 'DELETE',
    path: '/api/groups/{groupId}',
    summary: 'Delete a group',
    description:
      'Its members stay in the workspace. Nobody can answer the tasks that are assigned to it alone, until a group has its name again.',
    answers: {
      200: answer('It is deleted.', z.object({ id: z.string(), deleted: z.literal(true) }), {
        deleted: example('Deleted', { id: GROUP, deleted: true }),
      }),
    },
    errors: ['NOT_FOUND'],
    run: async ({ ctx, params }) => ({ body: await deleteGroup(ctx, { id: params.groupId }) }),
  }),
}
