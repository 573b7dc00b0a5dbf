import { z } from 'zod'
import { Assignees, assigneeProblems, DueIn, ExpiresIn, Needs, undecidable, voteProblems } from '../definition/asking'
import { component } from '../definition/component'
import { type JsonObject, own } from '../definition/json'
import type { AsksRemark, PauseAnswer } from '../definition/run'
import { Fields } from '../definition/schema'
import { joinAll, objectOf, ofKind, type Property } from '../definition/types/type'
import { StepFailure } from '../errors'
import { definedByAnswer, typesOfAnswer } from './asked-fields'
import { defineStep, Text } from './define-step'
import type { DefinedField } from './form'
import { ASSIGNEES_HINT, askedOf, DUE_IN_HINT, MESSAGE_HINT, SHOW_HINT, Show } from './people'
import { firstReminder, REMINDERS_HINT, Reminders, reminderDoubts, reminderProblems, remindersOf } from './reminders'
import { expiry } from './time'

/** Pauses the run until a person has chosen one of `actions`, or until enough people have. */
export const requestUserAction = defineStep({
  type: 'request-user-action',
  title: 'Request a decision',
  description: 'Pauses until a person has chosen one of the actions offered.',
  icon: 'user-check',
  group: 'people',
  mode: 'pause',
  config: z.object({
    title: Text(500).optional().describe('Shown to the person who answers.'),
    message: Text(10_000)
      .optional()
      .describe('Shown to the person who answers, as Markdown. HTML in it is shown as text, and images as links.'),
    show: Show,
    actions: z
      .array(
        component('UserAction', {
          id: z.string().min(1).max(100),
          label: Text(200),
          fields: Fields.optional().describe(
            'The fields to fill in to choose it, by name. Their values become fields of the decision, such as `${decision.reason}`.',
          ),
        }),
      )
      .min(1, 'needs at least one action')
      .max(50)
      .describe('The actions to choose from.'),
    remark: z
      .enum(['required', 'optional'])
      .optional()
      .describe(
        'Whether the decision needs a remark, or may have one; then it is in run data, such as `${decision.remark}`. Without this, a remark is only a comment.',
      ),
    assignees: Assignees,
    needs: Needs.describe('How many votes each action needs, by its id; 1 by default. Each person has one vote.'),
    noSelfApproval: z.boolean().optional().describe('The person who started the run may not answer.'),
    dueIn: DueIn,
    reminders: Reminders,
    expiresIn: ExpiresIn.describe('How long people have, as an ISO 8601 duration such as `P2D`.'),
  }),
  form: {
    assignees: ASSIGNEES_HINT,
    title: { widget: 'template', label: 'Title', help: 'The heading of the task.' },
    message: MESSAGE_HINT,
    show: SHOW_HINT,
    actions: {
      widget: 'actions',
      label: 'Actions',
      help: 'The buttons to choose from. The run gets the action’s id, not its label. An action with fields opens them when it is chosen.',
    },
    remark: {
      widget: 'select',
      label: 'Remark',
      placeholder: 'Only a comment',
      help: 'A remark that later steps can use. Otherwise, people can still leave one as a comment.',
      options: [
        { value: 'optional', label: 'Optional, for later steps' },
        { value: 'required', label: 'Required, for later steps' },
      ],
      advanced: true,
    },
    needs: {
      widget: 'counts',
      of: 'actions',
      label: 'Votes needed',
      help: 'How many people must choose an action. Without this, the first answer decides.',
      advanced: true,
    },
    noSelfApproval: {
      widget: 'switch',
      label: 'Not by the person who started the run',
      advanced: true,
    },
    dueIn: DUE_IN_HINT,
    reminders: REMINDERS_HINT,
    expiresIn: {
      widget: 'iso-duration',
      label: 'Time to decide',
      placeholder: 'P2D',
      help: 'After that, the run takes the exit “When time is up”, or fails if nothing follows it.',
      advanced: true,
    },
  },
  sample: {
    actions: [
      { id: 'approve', label: 'Approve' },
      { id: 'reject', label: 'Reject' },
    ],
  },
  exits: { from: 'actions', id: 'id', label: 'label', plus: ['next', 'timeout', 'error'], optional: true },
  defines: (config, stepId) => {
    const output = {
      type: 'object' as const,
      properties: {
        ...fieldsOfAll(config.actions),
        ...(config.needs ? { votes: { type: 'array' as const, description: 'Who voted for what' } } : {}),
        ...(config.remark ? { remark: REMARK[config.remark] } : {}),
        actionId: { type: 'string' as const, description: 'The id of the action chosen' },
        actionValue: {
          type: 'string' as const,
          description: 'The value sent with the choice; the action’s id unless one was sent',
        },
      },
    }
    return {
      fields: { [stepId]: output, ...(config.saveAs ? { [config.saveAs]: output } : {}) },
      open: false,
      output,
    }
  },
  types: ({ config: { actions, needs, remark, saveAs }, stepId, template }) => {
    const text: Property = { type: ofKind('string'), always: true }
    const every = new Map<string, Property>([
      ['actionId', text],
      ['actionValue', text],
    ])
    if (needs) every.set('votes', { type: ofKind('array'), always: true })
    if (remark) every.set('remark', { ...text, always: remark === 'required' })
    const chosen = actions.map(({ fields = {} }) =>
      objectOf(new Map([...typesOfAnswer(fields, template), ...every]), false),
    )
    const output = joinAll(chosen)
    const stored: Property = { type: output, always: true }
    return { fields: new Map([[stepId, stored] as const, ...(saveAs ? [[saveAs, stored] as const] : [])]), output }
  },
  check: (config) => {
    const ids = config.actions.map((action) => action.id)
    const twice =
      new Set(ids).size === ids.length ? [] : [{ field: 'actions', message: 'has two actions with the same id' }]
    const taken = config.actions.flatMap(({ id, fields = {} }) =>
      Object.keys(fields)
        .filter((name) => RESERVED.includes(name))
        .map((name) => ({
          field: 'actions',
          message: `has the field ${name} for ${id}, but every decision has a value of that name; choose another one`,
        })),
    )
    return [
      ...twice,
      ...taken,
      ...assigneeProblems(config.assignees),
      ...voteProblems(config),
      ...reminderProblems(config.reminders),
    ]
  },
  doubts: reminderDoubts,
  ask({ stepId, config, now }) {
    const impossible = undecidable(config.needs, config.assignees)
    if (impossible) throw new StepFailure('INVALID_CONFIG', `needs ${impossible}`)
    return {
      signal: {
        type: 'request_user_action',
        stepId,
        actions: config.actions.map(({ id, label, fields = {} }) =>
          hasNone(fields) ? { id, label } : { id, label, fields },
        ),
        ...(config.remark === undefined ? {} : { remark: config.remark }),
        ...(config.title === undefined ? {} : { title: config.title }),
        ...(config.message === undefined ? {} : { message: config.message }),
        ...askedOf(now, config),
        ...remindersOf(config.reminders),
        ...(config.needs === undefined ? {} : { needs: config.needs }),
        ...(config.noSelfApproval ? { noSelfApproval: true } : {}),
      },
      ...expiry(now, config.expiresIn),
      ...firstReminder(now, config.reminders),
    }
  },
  answers: ({ actions, remark }) => ({
    type: 'request_user_action',
    actions: actions.map(({ id, fields = {} }) => (hasNone(fields) ? { id } : { id, fields })),
    ...(remark ? { remark } : {}),
  }),
  answer({ stepId, config, answer }) {
    const output = 'actionId' in answer ? decisionOf(answer) : {}
    return {
      output,
      delta: { [stepId]: output, ...(config.saveAs ? { [config.saveAs]: output } : {}) },
      ...('actionId' in answer ? { exit: answer.actionId } : {}),
    }
  },
})

const hasNone = (fields: Fields) => Object.keys(fields).length === 0

/** The names that every decision has for itself. */
const RESERVED = ['actionId', 'actionValue', 'votes', 'remark']

const REMARK: Record<AsksRemark, DefinedField> = {
  required: { type: 'string', description: 'The remark with the choice' },
  optional: { type: 'string', description: 'The remark with the choice', optional: true },
}

/** The fields of a decision, whichever action is chosen. */
function fieldsOfAll(actions: readonly { fields?: Fields | undefined }[]): Record<string, DefinedField> {
  const names = new Set(actions.flatMap(({ fields = {} }) => Object.keys(fields)))
  const all = [...names].map((name): [string, DefinedField] => {
    const given = actions.map(({ fields }) => own(fields ?? {}, name))
    const fields = given.filter((field) => field !== undefined).map(definedByAnswer)
    const [first = { type: 'any' as const }] = fields
    const type = fields.every((field) => field.type === first.type) ? first.type : 'any'
    const optional = fields.length < given.length || fields.some((field) => field.optional)
    return [name, { ...first, type, ...(optional ? { optional } : {}) }]
  })
  return Object.fromEntries(all)
}

/** The decision in run data. With votes, its fields and its remark are those of the vote that decided. */
function decisionOf({
  actionId,
  actionValue,
  data,
  remark,
  votes,
}: Extract<PauseAnswer, { actionId: string }>): JsonObject {
  return {
    ...data,
    actionId,
    actionValue,
    ...(remark === undefined ? {} : { remark }),
    ...(votes ? { votes } : {}),
  }
}
