import { z } from 'zod'
import { ExpiresIn } from '../definition/asking'
import { EVENT_FIELDS } from '../definition/event'
import { StepFailure } from '../errors'
import { ExpressionText } from '../tools/expression'
import { defineStep } from './define-step'
import { expiry } from './time'

const NAME_MAX = 200

/** Waits for an event that another system posts. */
export const waitForEvent = defineStep({
  type: 'wait-for-event',
  title: 'Wait for an event',
  description: 'Waits until another system posts a matching event. Nothing runs meanwhile.',
  icon: 'zap',
  group: 'flow',
  mode: 'pause',
  config: z.object({
    event: z.string().min(1).max(NAME_MAX).describe('The name of the event.'),
    key: z
      .union([z.string(), z.number()])
      .optional()
      .describe('Only events with this key match. Without a key, every event of the name does.'),
    when: ExpressionText.optional().describe(
      'An expression that must be true; `${event.data.x}` is a value of the event.',
    ),
    since: z
      .enum(['run', 'step'])
      .optional()
      .describe('Since when events count: since the start of the `run` (the default) or of the `step`.'),
    expiresIn: ExpiresIn.describe('How long to wait, as an ISO 8601 duration; then the exit `timeout` is taken.'),
  }),
  form: {
    event: { widget: 'template', label: 'Event', placeholder: 'payment.settled', help: 'The name it is posted with.' },
    key: {
      widget: 'template',
      label: 'Key',
      placeholder: '${orderId}',
      help: 'Only events with this key match. Without one, any event of the name does.',
    },
    when: {
      widget: 'expression',
      label: 'Only if',
      placeholder: '${event.data.amount} >= 100',
      help: '${event} is the event: id, name, key, data and receivedAt.',
      advanced: true,
    },
    since: {
      widget: 'select',
      label: 'Events count',
      options: [
        { value: 'run', label: 'Since the run started' },
        { value: 'step', label: 'Since this step started' },
      ],
      advanced: true,
    },
    expiresIn: {
      widget: 'iso-duration',
      label: 'Time to wait',
      placeholder: 'P7D',
      help: 'After that, the run takes the exit “When time is up”, or fails if nothing follows it.',
    },
  },
  sample: { event: 'order.paid' },
  exits: ['next', 'timeout', 'error'],
  defines: ({ saveAs }) => {
    const output = { type: 'object' as const, properties: EVENT_FIELDS }
    return { fields: saveAs ? { [saveAs]: output } : {}, open: false, output }
  },
  supplies: { when: { event: { type: 'object', description: 'The event', properties: EVENT_FIELDS } } },
  late: 'No matching event came in time.',
  inputData: ({ event, key, when, since, expiresIn }) => ({
    event,
    ...(key === undefined ? {} : { key }),
    ...(when === undefined ? {} : { when }),
    ...(since === undefined ? {} : { since }),
    ...(expiresIn === undefined ? {} : { expiresIn }),
  }),
  ask({ config, now, values = {} }) {
    const key = config.key === undefined ? null : String(config.key)
    if (key === '' || (key !== null && key.length > NAME_MAX))
      throw new StepFailure('INVALID_CONFIG', `The key must have 1 to ${NAME_MAX} characters`)
    const { event: name, when = null, since = 'run' } = config
    return { signal: null, event: { name, key, rules: { since, when, values } }, ...expiry(now, config.expiresIn) }
  },
  answer({ config, answer }) {
    const output = 'event' in answer ? answer.event : {}
    return { output, delta: config.saveAs ? { [config.saveAs]: output } : {} }
  },
})
