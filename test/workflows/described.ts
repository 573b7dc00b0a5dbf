import type { Reply } from '../support/model'

// What people describe, and what a model answers to it: fixed, and partly wrong.

export interface Case {
  what: string
  text: string
  replies: Reply[]
  /** The problems that the model got back before its last answer, one pattern each. */
  mended?: RegExp[]
  /** The reasons that people read if nothing is offered. */
  refused?: RegExp[]
  /** The error if the model gave no answer. */
  error?: RegExp
}

const person = (id: string, name: string, more: object = {}) => ({
  ...{ id, type: 'request-user-action', name, title: name },
  actions: [
    { id: 'approve', label: 'Approve' },
    { id: 'reject', label: 'Reject' },
  ],
  ...more,
})
const form = (id: string, name: string, output: object) => ({ id, type: 'collect-inputs', name, title: name, output })
const end = (output: object = {}) => ({ id: 'done', type: 'end-flow', name: 'Done', output })
const text = (definition: object): Reply => ({ text: JSON.stringify(definition) })
const fenced = (definition: object): Reply => ({
  text: `Here is your workflow:\n\n\`\`\`json\n${JSON.stringify(definition, null, 2)}\n\`\`\`\n\nTell me if you need more.`,
})

export const EXPENSES = {
  name: 'Expense approval',
  initialStep: 'amount_check',
  payload: { purpose: { type: 'string' }, amount: { type: 'number' } },
  steps: [
    { id: 'amount_check', type: 'condition', name: 'Over 1,000?', when: '${amount} > 1000' },
    person('approval', 'Approve ${purpose}', { assignees: ['role:admin'] }),
    end({ purpose: '${purpose}' }),
  ],
  edges: [
    { from: 'amount_check', to: 'approval', on: 'true' },
    { from: 'amount_check', to: 'done', on: 'false' },
    { from: 'approval', to: 'done' },
  ],
}

const LEAVE = {
  name: 'Leave request',
  steps: [
    form('request', 'Your leave', { from: { type: 'string' }, days: { type: 'integer' } }),
    person('decision', 'Leave from ${from}', { dueIn: 'P2D', expiresIn: 'P7D' }),
    end({ decision: '${decision.actionId}' }),
    { id: 'late', type: 'fail-flow', name: 'Nobody decided', code: 'TOO_LATE', message: 'Nobody decided in a week.' },
  ],
  edges: [
    { from: 'request', to: 'decision' },
    { from: 'decision', to: 'done' },
    { from: 'decision', to: 'late', on: 'timeout' },
  ],
}

const ONBOARDING = {
  name: 'Onboarding',
  payload: { person: { type: 'string' } },
  initialStep: 'both',
  steps: [
    {
      ...{ id: 'both', type: 'parallel', name: 'Prepare' },
      branches: [
        { id: 'laptop', label: 'Laptop' },
        { id: 'accounts', label: 'Accounts' },
      ],
    },
    form('order_laptop', 'Order a laptop for ${person}', { serial: { type: 'string' } }),
    form('make_accounts', 'Accounts for ${person}', { login: { type: 'string' } }),
    end({ serial: '${serial}', login: '${login}' }),
  ],
  edges: [
    { from: 'both', to: 'order_laptop', on: 'laptop' },
    { from: 'both', to: 'make_accounts', on: 'accounts' },
    { from: 'both', to: 'done', on: 'done' },
  ],
}

const INVOICE = {
  name: 'Invoice check',
  payload: { invoice: { type: 'file' }, total: { type: 'number' } },
  initialStep: 'route',
  steps: [
    {
      ...{ id: 'route', type: 'switch', name: 'By amount' },
      cases: [
        { id: 'small', label: 'Small', when: '${total} < 100' },
        { id: 'large', label: 'Large', when: '${total} >= 5000' },
      ],
    },
    person('manager', 'Check the invoice of ${total}'),
    person('board', 'Release ${total}', { needs: { approve: 2 } }),
    end({ total: '${total}' }),
  ],
  edges: [
    { from: 'route', to: 'done', on: 'small' },
    { from: 'route', to: 'board', on: 'large' },
    { from: 'route', to: 'manager', on: 'default' },
    { from: 'manager', to: 'done' },
    { from: 'board', to: 'done' },
  ],
}

/** A letter that is written again until it is approved. */
const letter = (reference: string) => ({
  name: 'Letter',
  payload: { customer: { type: 'string' } },
  initialStep: 'write',
  steps: [
    { ...form('write', 'Write to ${customer}', { letter: { type: 'string' } }), maxVisits: 5 },
    person('review', 'The letter', { message: `Is this right? ${reference}` }),
    end(),
  ],
  edges: [
    { from: 'write', to: 'review' },
    { from: 'review', to: 'write', on: 'reject' },
    { from: 'review', to: 'done', on: 'approve' },
  ],
})

/** The count never changes, so no run leaves the loop. */
const ENDLESS = {
  name: 'Wait for delivery',
  initialStep: 'start',
  steps: [
    { id: 'start', type: 'set-data', values: { delivered: 0 } },
    { id: 'look', type: 'condition', when: '${delivered} > 0', maxVisits: 100 },
    { id: 'wait', type: 'delay', for: 'PT1H' },
    end(),
  ],
  edges: [
    { from: 'start', to: 'look' },
    { from: 'look', to: 'done', on: 'true' },
    { from: 'look', to: 'wait', on: 'false' },
    { from: 'wait', to: 'look' },
  ],
}
/** The same with a person, who looks whether it has come. */
const ARRIVING = {
  ...ENDLESS,
  steps: ENDLESS.steps.map((step) =>
    step.id === 'wait' ? form('wait', 'Has it come?', { delivered: { type: 'integer' } }) : step,
  ),
}
const YEAR = {
  name: 'A year of reminders',
  initialStep: 'start',
  steps: [
    { id: 'start', type: 'set-data', values: { month: 0 } },
    { id: 'count', type: 'set-data', compute: { month: '${month} + 1' }, maxVisits: 20 },
    { id: 'over', type: 'condition', when: '${month} >= 12' },
    end(),
  ],
  edges: [
    { from: 'start', to: 'count' },
    { from: 'count', to: 'over' },
    { from: 'over', to: 'done', on: 'true' },
    { from: 'over', to: 'count', on: 'false' },
  ],
}
/** Its cleanup path completes, and no run does. */
const REFUSING = {
  name: 'Refuse',
  initialStep: 'refuse',
  onCancel: 'done',
  steps: [{ id: 'refuse', type: 'fail-flow', name: 'Refused', code: 'REFUSED', message: 'Refused.' }, end()],
  edges: [],
}
const { edges: leaveEdges, ...leaveRest } = LEAVE
const dangling = { ...leaveRest, edges: [...leaveEdges, { from: 'decision', to: 'payroll', on: 'approve' }] }
const mailing = {
  ...LEAVE,
  steps: [...LEAVE.steps.slice(0, 2), { id: 'mail', type: 'send-email', to: 'x' }, ...LEAVE.steps.slice(2)],
}
export const DIVIDES = {
  name: 'Share of costs',
  payload: { total: { type: 'number' }, people: { type: 'integer' } },
  steps: [
    { id: 'share', type: 'set-data', compute: { share: '${total} / (${people} - 1)' } },
    end({ share: '${share}' }),
  ],
  edges: [{ from: 'share', to: 'done' }],
}
const guarded = {
  ...DIVIDES,
  steps: [
    { id: 'share', type: 'set-data', compute: { share: '${people} > 1 ? ${total} / (${people} - 1) : 0' } },
    end({ share: '${share}' }),
  ],
}
const noTool = {
  ...{ name: 'Look up', payload: { order: { type: 'string' } } },
  steps: [{ id: 'find', type: 'call-tool', toolId: 'tool_erp_lookup', args: { order: '${order}' } }, end()],
  edges: [{ from: 'find', to: 'done' }],
}

export const DESCRIBED: Case[] = [
  {
    what: 'an expense approval, in a code fence with words around it',
    text: 'Employees hand in expenses with a purpose and an amount. Over 1,000 an admin must approve.',
    replies: [fenced(EXPENSES)],
  },
  {
    what: 'a leave request with a time limit',
    text: 'Someone asks for leave. Decide in a week.',
    replies: [text(LEAVE)],
  },
  {
    what: 'an onboarding in parallel',
    text: 'Order a laptop and make accounts, both at once.',
    replies: [text(ONBOARDING)],
  },
  {
    what: 'an invoice check by amount',
    text: 'Under 100 nobody looks; from 5,000 two must agree.',
    replies: [text(INVOICE)],
  },
  {
    what: 'a letter whose reference the second answer mends',
    text: 'Write a letter to the customer; a colleague reviews it until it is right.',
    replies: [text(letter('${leter}')), text(letter('${letter}'))],
    mended: [/leter/],
  },
  {
    what: 'an answer that is not JSON, and then a step type that does not exist',
    text: 'Someone asks for leave, and gets an e-mail.',
    replies: [{ text: 'Sure! Which system do you use for e-mail?' }, text(mailing), text(LEAVE)],
    mended: [/not JSON/, /send-email/],
  },
  {
    what: 'a division that fails for a value that START allows',
    text: 'Divide the costs among the people, except for the one who drives.',
    replies: [text(DIVIDES), text(guarded)],
    mended: [/simulated run fails/],
  },
  {
    what: 'a connection that leads nowhere, three times',
    text: 'Someone asks for leave. If approved, tell payroll.',
    replies: [text(dangling), text(dangling), text(dangling)],
    refused: [/payroll/],
  },
  {
    what: 'a loop that no run leaves, which the second answer mends',
    text: 'Wait until the parcel is delivered.',
    replies: [text(ENDLESS), text(ARRIVING)],
    mended: [/No simulated run leaves its loop/],
  },
  {
    what: 'a loop with more rounds than a simulation has, which the model keeps',
    text: 'Remind me each month for a year.',
    replies: [text(YEAR), text(YEAR), text(YEAR)],
    mended: [/No simulated run leaves its loop/, /No simulated run leaves its loop/],
  },
  {
    what: 'a path that fails always, three times',
    text: 'Refuse everything.',
    replies: [text(REFUSING), text(REFUSING), text(REFUSING)],
    refused: [/No simulated run completes/],
  },
  {
    what: 'a tool that the workspace does not have, three times',
    text: 'Look the order up in the ERP.',
    replies: [text(noTool), text(noTool), text(noTool)],
    refused: [/tool_erp_lookup/],
  },
  {
    what: 'steps of the wrong form, three times',
    text: 'Ask Ada.',
    replies: [
      text({ name: 'Ada', steps: 'ask Ada' }),
      text({ name: 'Ada', steps: [{ id: 'ask', type: 7 }] }),
      text({ name: 'Ada', steps: [{ id: 'ask' }] }),
    ],
    refused: [/type/],
  },
  {
    what: 'an answer that is too large, which is not asked for again',
    text: 'Everything that our company does.',
    replies: [text({ name: 'All', steps: [end({ text: 'x'.repeat(250_000) })] })],
    refused: [/longer than 200,000 characters/],
  },
  {
    what: 'a model that refuses the key',
    text: 'Ask Ada.',
    replies: [{ status: 401 }],
    error: /the key was refused/,
  },
  {
    what: 'an answer that is cut off',
    text: 'Ask Ada.',
    replies: [{ message: { content: '{"name":"Ada","steps":[' }, finish: 'length' }],
    error: /cut off/,
  },
  { what: 'a model that does not answer in time', text: 'Ask Ada.', replies: [{ hang: true }], error: /within/ },
]
