import { z } from 'zod'
import { component } from '../definition/component'
import { StepFailure } from '../errors'
import { defineStep, Text } from './define-step'
import {
  ASSIGNEES_HINT,
  Assignees,
  askedOf,
  assigneeProblems,
  DUE_IN_HINT,
  DueIn,
  MESSAGE_HINT,
  Needs,
  SHOW_HINT,
  Show,
  undecidable,
  voteProblems,
} from './people'
import { ExpiresIn, expiry } from './time'

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
      .array(component('UserAction', { id: z.string().min(1).max(100), label: Text(200) }))
      .min(1, 'needs at least one action')
      .max(50)
      .describe('The actions to choose from.'),
    assignees: Assignees,
    needs: Needs.describe('How many votes each action needs, by its id; 1 by default. Each person has one vote.'),
    noSelfApproval: z.boolean().optional().describe('The person who started the run may not answer.'),
    dueIn: DueIn,
    expiresIn: ExpiresIn.describe('How long people have, as an ISO 8601 duration such as `P2D`.'),
  }),
  form: {
    title: { widget: 'template', label: 'Title', help: 'The heading of the task.' },
    message: MESSAGE_HINT,
    show: SHOW_HINT,
    actions: {
      widget: 'actions',
      label: 'Actions',
      help: 'The buttons to choose from. The run gets the action’s id, not its label.',
    },
    assignees: ASSIGNEES_HINT,
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
    expiresIn: {
      widget: 'template',
      label: 'Time to decide',
      placeholder: 'P2D',
      help: 'Such as PT2H or P2D. After that, the run takes the exit “When time is up”, or fails if nothing follows it.',
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
        ...(config.needs ? { votes: { type: 'array' as const, description: 'Who voted for what' } } : {}),
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
  check: (config) => {
    const ids = config.actions.map((action) => action.id)
    const twice =
      new Set(ids).size === ids.length ? [] : [{ field: 'actions', message: 'has two actions with the same id' }]
    return [...twice, ...assigneeProblems(config.assignees), ...voteProblems(config)]
  },
  ask({ stepId, config, now }) {
    const impossible = undecidable(config.needs, config.assignees)
    if (impossible) throw new StepFailure('INVALID_CONFIG', `needs ${impossible}`)
    return {
      signal: {
        type: 'request_user_action',
        stepId,
        actions: config.actions,
        ...(config.title === undefined ? {} : { title: config.title }),
        ...(config.message === undefined ? {} : { message: config.message }),
        ...askedOf(now, config),
        ...(config.needs === undefined ? {} : { needs: config.needs }),
        ...(config.noSelfApproval ? { noSelfApproval: true } : {}),
      },
      ...expiry(now, config.expiresIn),
    }
  },
  answers: ({ actions }) => ({ type: 'request_user_action', actionIds: actions.map(({ id }) => id) }),
  answer({ stepId, config, answer }) {
    const votes = 'votes' in answer && answer.votes ? { votes: answer.votes } : {}
    const output = 'actionId' in answer ? { actionId: answer.actionId, actionValue: answer.actionValue, ...votes } : {}
    return {
      output,
      delta: { [stepId]: output, ...(config.saveAs ? { [config.saveAs]: output } : {}) },
      ...('actionId' in answer ? { exit: answer.actionId } : {}),
    }
  },
})
