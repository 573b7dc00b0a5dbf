import { z } from 'zod'
import { Assignees, assigneeProblems, DueIn, ExpiresIn, Needs, voteProblems } from './asking'
import { components } from './component'
import { inexactIn, referencesOf } from './expression/fields'
import { MAX_EXPRESSION_CHARS, parseExpression } from './expression/parse'
import type { JsonObject } from './json'
import type { ShownValue } from './shown'
import { findReferences, type Reference, TemplateSyntaxError } from './template'

// Whether a call that an agent's model asks for needs a decision of people first.

/** What the expressions of a policy can use: the call's arguments, the caller's data, and the verified context. */
export const APPROVAL_ROOTS: readonly string[] = ['args', 'dataContext', 'context']

const MAX_NAMES = 30
const Names = z.array(z.string().min(1).max(200)).min(1).max(MAX_NAMES).optional()

const policy = z
  .strictObject({
    when: z
      .string()
      .max(MAX_EXPRESSION_CHARS)
      .optional()
      .describe(
        'An expression over `args`, `dataContext` and `context` that gives true if a call needs a decision, such as `${args.amount} > 100`. Every call needs one by default, and one for which the expression fails.',
      ),
    title: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .optional()
      .describe('Shown to the person who answers, such as `Refund ${args.amount}`.'),
    assignees: Assignees,
    noSelfApproval: z.boolean().optional().describe('The person who started the run may not answer.'),
    needs: Needs.describe('How many votes `approve` and `reject` need; 1 by default. Each person has one vote.'),
    dueIn: DueIn,
    expiresIn: ExpiresIn.describe('How long people have, as an ISO 8601 duration such as `P2D`.'),
    onExpiry: z
      .enum(['reject', 'fail'])
      .optional()
      .describe(
        'What happens if nobody answers in time: the call is rejected, which is the default, or the step fails.',
      ),
    editable: Names.describe('The arguments that the person who approves may change. Not with `needs`.'),
    show: Names.describe('The arguments to show, in this order; all of them by default.'),
  })
  .superRefine((given, issues) => {
    const add = (field: string, message: string) => issues.addIssue({ code: 'custom', path: [field], message })
    for (const { field, message } of policyProblems(given)) add(field, message)
  })
  .register(components, { id: 'ApprovalPolicy' })

/** Which calls of a tool need a decision, and who is asked. */
export const Approval = z
  .union([z.literal('always'), policy])
  .describe(
    'Which calls need a decision of people before they are made: `always`, or those that a policy names. None without it. Where nobody can be asked, such calls are not made.',
  )
export type ApprovalPolicy = z.infer<typeof policy>
export type Approval = 'always' | ApprovalPolicy

/** What people are asked about a call. Times count from the moment they are asked. */
export type ApprovalQuestion = {
  title: string
  show: ShownValue[]
  /** Anybody if absent. */
  assignees?: string[]
  noSelfApproval?: true
  needs?: Record<string, number>
  dueIn?: string
  expiresIn?: string
  onExpiry: 'reject' | 'fail'
  /** The names of the arguments that may be changed. */
  editable: string[]
  /** Why the model makes the call, in its own words: plain text; empty if it gave no reason. */
  why: string
  /** Why a part of the policy could not be evaluated. */
  problem?: string
}

/** What becomes of a call that a model asks for. `refuse` is for one that cannot be made, so that nobody is asked. */
export type CallPolicy = 'run' | 'refuse' | { ask: ApprovalQuestion }

/** What people decided about a call, as its row keeps it. */
export type CallDecision = {
  approved: boolean
  /** Null if nobody decided in time. */
  by: string | null
  /** Who voted for it, oldest first, if votes decided; `by` is the last of them. */
  voters?: string[]
  /** The arguments that the person changed. */
  args?: JsonObject
  remark?: string
}

/** The actions of a decision about a call. */
export const APPROVE = 'approve'
export const REJECT = 'reject'

const ACTIONS = [{ id: APPROVE }, { id: REJECT }]

function policyProblems(given: ApprovalPolicy): { field: string; message: string }[] {
  const { when, title, assignees, dueIn, expiresIn, needs, editable } = given
  const stranger = Object.keys(needs ?? {}).find((name) => !ACTIONS.some(({ id }) => id === name))
  return [
    ...(when === undefined ? [] : whenProblems(when).map((message) => ({ field: 'when', message }))),
    ...templateProblems({ title, assignees, dueIn, expiresIn }),
    ...assigneeProblems(assignees),
    ...(stranger === undefined
      ? voteProblems({ needs, assignees, expiresIn, actions: ACTIONS })
      : [{ field: 'needs', message: `names ${stranger}; it can name approve and reject` }]),
    ...(needs && editable
      ? [{ field: 'editable', message: 'cannot be used with needs: an edited call is not the one others voted on' }]
      : []),
  ]
}

function whenProblems(text: string): string[] {
  try {
    const inexact = inexactIn(text)
    const strange = strangers(referencesOf(parseExpression(text)).map(({ reference }) => reference))
    return inexact ? [inexact, ...strange] : strange
  } catch (err) {
    if (!(err instanceof TemplateSyntaxError)) throw err
    return [text.trim() === '' ? 'must not be empty' : `is not a valid expression: ${err.message}`]
  }
}

function templateProblems(templates: Pick<ApprovalPolicy, 'title' | 'assignees' | 'dueIn' | 'expiresIn'>) {
  return Object.entries(templates).flatMap(([field, value]) => {
    const { references, problems } = findReferences(value)
    const messages = [
      ...problems.map(({ error }) => `is not a valid template: ${error.message}`),
      ...strangers(references.map(({ reference }) => reference)),
    ]
    return messages.map((message) => ({ field, message }))
  })
}

function strangers(references: Reference[]): string[] {
  return references
    .filter(({ root }) => !APPROVAL_ROOTS.includes(root))
    .map(({ source }) => `uses \${${source}}; it can use \${args…}, \${dataContext…} and \${context…}`)
}
