import type { Actor, ServiceContext } from '../context'
import { AppError } from '../errors'
import { ROLES, type Role } from '../roles'

/** The lowest role allowed to do each thing. REST, tRPC and the dashboard's buttons all use this one table. */
export const POLICY = {
  'workflow:read': 'viewer',
  'workflow:write': 'editor',
  /** Also covers archive, unarchive and restore. */
  'workflow:publish': 'editor',
  /** Executes nothing, but takes a second of computing, so it is for people who edit. */
  'workflow:simulate': 'editor',
  /** To compare definitions with the workspace, and try past runs on them, without changing anything. */
  'definitions:check': 'editor',
  'workflow:delete-permanently': 'owner',
  'run:read': 'viewer',
  'run:start': 'operator',
  'run:resume': 'operator',
  'run:cancel': 'operator',
  'run:terminate': 'operator',
  'run:retry': 'operator',
  /** To have open runs continue on another published version: a publication for runs that exist. */
  'run:move': 'editor',
  /** To see the values that screens hide. Each look is in the audit log. */
  'run:reveal': 'admin',
  'event:post': 'operator',
  /** To have old runs deleted. */
  'run:delete': 'owner',
  /** To delete everything of one `sub`. */
  'subject:delete': 'owner',
  'task:read': 'viewer',
  'task:answer': 'operator',
  'file:read': 'viewer',
  /** To store a file for a run that the caller is about to start, or for an answer. */
  'file:upload': 'operator',
  'agent:read': 'viewer',
  'agent:invoke': 'operator',
  'agent:write': 'editor',
  'agent:publish': 'editor',
  'tool:read': 'viewer',
  'tool:invoke': 'operator',
  'tool:write': 'editor',
  'tool:publish': 'editor',
  'key:manage': 'admin',
  'secret:manage': 'admin',
  'secret:raise-role': 'owner',
  'webhook:manage': 'admin',
  'member:manage': 'admin',
  'member:manage-admin': 'owner',
  'settings:manage': 'admin',
  'audit:read': 'admin',
  /** To have old entries deleted. */
  'audit:delete': 'owner',
  /** Only in the workspace of the people who run the service: see `runs-service.ts`. */
  'service:read': 'owner',
} as const satisfies Record<string, Role>

export type Operation = keyof typeof POLICY

export function may(role: Role, operation: Operation): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(POLICY[operation])
}

/**
 * The operations that the tokens of a limited secret allow, if their role does. `reach.ts` decides which objects they
 * find.
 */
const WITHIN_REACH: readonly Operation[] = [
  ...(['workflow:read', 'run:read', 'run:start', 'run:resume', 'run:cancel', 'run:terminate', 'run:retry'] as const),
  ...(['file:read', 'file:upload', 'agent:read', 'agent:invoke'] as const),
]

/** The only operation that a caller’s API key may do; undefined if its role decides. */
function onlyOf(actor: Actor): Operation | undefined {
  return actor.kind === 'apiKey' ? actor.only : undefined
}

/** Whether `authorize` would allow the operation. */
export function allows({ actor, reach }: Pick<ServiceContext, 'actor' | 'reach'>, operation: Operation): boolean {
  const only = onlyOf(actor)
  if (only) return operation === only
  return may(actor.role, operation) && (!reach || WITHIN_REACH.includes(operation))
}

/**
 * Call it first in every verb.
 * @throws AppError FORBIDDEN
 */
export function authorize(ctx: ServiceContext, operation: Operation): void {
  const only = onlyOf(ctx.actor)
  if (only === operation) return
  if (only)
    throw new AppError('FORBIDDEN', {
      details: [{ message: 'This API key may only compare definitions, and try past runs on them.' }],
    })
  if (!WITHIN_REACH.includes(operation)) refuseLimited(ctx)
  if (!may(ctx.actor.role, operation)) {
    const { kind, role } = ctx.actor
    const has = kind === 'user' ? `your role is ${role}` : `the credential has ${role}`
    throw new AppError('FORBIDDEN', {
      details: [{ message: `This needs the role ${POLICY[operation]} or above; ${has}.` }],
    })
  }
}

/**
 * For calls that no token of a limited secret may make, although it may do what they need otherwise.
 * @throws AppError FORBIDDEN
 */
export function refuseLimited({ reach }: Pick<ServiceContext, 'reach'>): void {
  if (!reach) return
  throw new AppError('FORBIDDEN', { details: [{ message: 'The limits of the signing secret do not allow this.' }] })
}

/**
 * Whether the caller sees sensitive fields only one by one, with `revealField`, which the audit log records: everyone
 * who is signed in, however they read a run, and keys that may not read runs. Other programs get the stored values.
 */
export function seesHidden({ actor }: Pick<ServiceContext, 'actor'>): boolean {
  return actor.kind === 'user' || onlyOf(actor) !== undefined
}
