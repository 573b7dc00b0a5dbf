import { z } from 'zod'
import { component, components } from '../definition/component'
import { answer } from '../openapi/answer'
import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { time } from '../openapi/fields'
import { ROLES } from '../roles'
import { ChangeRole, changeRole } from './change-role'
import { createInvitation, Invite } from './invitations/create'
import { listInvitations } from './invitations/list'
import { renewInvitation } from './invitations/renew'
import { revokeInvitation } from './invitations/revoke'
import { listMembers } from './list'
import { removeMember } from './remove'

const USER = 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const INVITATION = 'inv_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const at = '2026-01-05T09:30:00.000Z'
const email = 'ada@example.com'
const parameters = {
  userId: { description: 'The member.', example: USER },
  invitationId: { description: 'The invitation.', example: INVITATION },
}
const common = { parameters, tag: 'Members', permission: 'member:manage' } as const
const role = z.enum(ROLES)

export const Member = component('Member', {
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  createdAt: time('When they joined.'),
  lastSeenAt: time('When they last used the dashboard, in any workspace; null if never.').nullable(),
})
/** Without the id, which is in the path. */
export const ChangeMember = ChangeRole.omit({ userId: true }).register(components, { id: 'ChangeMember' })

export const Invitation = component('Invitation', {
  id: z.string(),
  email: z.string(),
  role,
  createdAt: time('When it was created.'),
  invitedBy: z.string().nullable().describe('The name of the person who invited; null for an API key.'),
  expiresAt: time('Until when its link works.'),
  expired: z.boolean(),
})
export const CreatedInvitation = component('CreatedInvitation', {
  id: z.string(),
  email: z.string(),
  token: z.string().describe('The end of the link `/invite/<token>`. Shown only here; no mail is sent.'),
  expiresAt: time('Until when the link works.'),
})

const invited = { id: INVITATION, email, token: 'b7Qx…', expiresAt: '2026-01-12T09:30:00.000Z' }
const link = (description: string) =>
  answer(description, CreatedInvitation, { invitation: example('With its token', invited) })

export const MEMBER_ENDPOINTS = {
  listMembers: endpoint({
    ...common,
    method: 'GET',
    path: '/api/members',
    summary: 'List the members',
    description: 'By address.',
    answers: {
      200: answer('The members.', z.array(Member), {
        list: example('One member', [
          { userId: USER, email, name: 'Ada Lovelace', role: 'owner', createdAt: at, lastSeenAt: at },
        ]),
      }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listMembers(ctx) }),
  }),
  changeMember: endpoint({
    ...common,
    method: 'PUT',
    path: '/api/members/{userId}',
    summary: 'Change the role of a member',
    description: 'From their next request on. Admins change roles below theirs, owners all. The last owner stays one.',
    body: { schema: ChangeMember, required: true, examples: { role: example('A role', { role: 'editor' }) } },
    answers: {
      200: answer('The member.', z.object({ userId: z.string(), role }), {
        member: example('The member', { userId: USER, role: 'editor' }),
      }),
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params, body }) => ({
      body: await changeRole(ctx, { role: body.role, userId: params.userId }),
    }),
  }),
  removeMember: endpoint({
    ...common,
    method: 'DELETE',
    path: '/api/members/{userId}',
    summary: 'Remove a member',
    description: 'From their next request on. What they created stays, API keys included.',
    answers: {
      200: answer('They are no member any more.', z.object({ userId: z.string() }), {
        removed: example('Removed', { userId: USER }),
      }),
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params }) => ({ body: await removeMember(ctx, { userId: params.userId }) }),
  }),
  listInvitations: endpoint({
    ...common,
    method: 'GET',
    path: '/api/invitations',
    summary: 'List the invitations',
    description: 'Those that were neither accepted nor revoked, newest first.',
    answers: {
      200: answer('The invitations.', z.array(Invitation), {
        list: example('One invitation', [
          {
            ...{ id: INVITATION, email, role: 'editor', createdAt: at, invitedBy: null },
            ...{ expiresAt: invited.expiresAt, expired: false },
          },
        ]),
      }),
    },
    errors: [],
    run: async ({ ctx }) => ({ body: await listInvitations(ctx) }),
  }),
  createInvitation: endpoint({
    ...common,
    method: 'POST',
    path: '/api/invitations',
    summary: 'Invite a person',
    description:
      'Only this response contains the token of the link. An earlier invitation of the same address is revoked. `Idempotency-Key` has no effect here.',
    body: { schema: Invite, required: true, examples: { invite: example('An editor', { email, role: 'editor' }) } },
    answers: { 201: link('The invitation.') },
    errors: ['CONFLICT'],
    // No `Idempotency-Key`: a stored response would contain the token.
    run: async ({ ctx, body }) => ({ status: 201, body: await createInvitation(ctx, body) }),
  }),
  renewInvitation: endpoint({
    ...common,
    method: 'POST',
    path: '/api/invitations/{invitationId}/renew',
    summary: 'Renew an invitation',
    description: 'Makes a new link; the old one stops working. `Idempotency-Key` has no effect here.',
    answers: { 200: link('The invitation.') },
    errors: ['NOT_FOUND', 'CONFLICT'],
    // No `Idempotency-Key`: a stored response would contain the token.
    run: async ({ ctx, params }) => ({ body: await renewInvitation(ctx, params.invitationId) }),
  }),
  revokeInvitation: endpoint({
    ...common,
    method: 'DELETE',
    path: '/api/invitations/{invitationId}',
    summary: 'Revoke an invitation',
    description: 'Its link stops working.',
    answers: {
      200: answer('It is revoked.', z.object({ id: z.string() }), { revoked: example('Revoked', { id: INVITATION }) }),
    },
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: async ({ ctx, params }) => ({
      body: await revokeInvitation(ctx, params.invitationId),
    }),
  }),
}
