import { z } from 'zod'
import { Assignees, assigneeProblems, DueIn, ExpiresIn } from '../definition/asking'
import { isJsonObject, own } from '../definition/json'
import { Fields } from '../definition/schema'
import { join, objectOf } from '../definition/types/type'
import { definedByAnswer, typesOfAnswer } from './asked-fields'
import { defineStep, Text } from './define-step'
import { ASSIGNEES_HINT, askedOf, DUE_IN_HINT, MESSAGE_HINT, SHOW_HINT, Show } from './people'
import { firstReminder, REMINDERS_HINT, Reminders, reminderDoubts, reminderProblems, remindersOf } from './reminders'
import { expiry } from './time'

/** Pauses the run until a person has filled in the fields of `output`. */
export const collectInputs = defineStep({
  type: 'collect-inputs',
  title: 'Collect inputs',
  description: 'Pauses until a person has filled in a form; later steps can use its fields.',
  icon: 'clipboard-list',
  group: 'people',
  mode: 'pause',
  config: z.object({
    output: Fields.default({}).describe('The fields to ask for, by name. The answer is merged into the run’s data.'),
    title: Text(500).optional().describe('Shown to the person who answers.'),
    message: Text(10_000)
      .optional()
      .describe('Shown to the person who answers, as Markdown. HTML in it is shown as text, and images as links.'),
    show: Show,
    skipWhenPresent: z
      .boolean()
      .optional()
      .describe('Continue without asking if the run’s data already has every field.'),
    assignees: Assignees,
    dueIn: DueIn,
    reminders: Reminders,
    expiresIn: ExpiresIn.describe('How long people have, as an ISO 8601 duration such as `P2D`.'),
  }),
  form: {
    assignees: ASSIGNEES_HINT,
    title: { widget: 'template', label: 'Title', help: 'The heading of the task.' },
    message: MESSAGE_HINT,
    show: SHOW_HINT,
    output: { widget: 'fields', declares: true, label: 'Fields to fill in' },
    skipWhenPresent: {
      widget: 'switch',
      label: 'Skip if every field already has a value',
      advanced: true,
    },
    dueIn: DUE_IN_HINT,
    reminders: REMINDERS_HINT,
    expiresIn: {
      widget: 'iso-duration',
      label: 'Time to answer',
      placeholder: 'P2D',
      help: 'After that, the run takes the exit “When time is up”, or fails if nothing follows it.',
      advanced: true,
    },
  },
  sample: { output: { answer: { type: 'string' } } },
  exits: ['next', 'timeout', 'error'],
  inputData: (config) => ({ fields: config.output }),
  defines: (config) => {
    const properties = Object.fromEntries(
      Object.entries(config.output).map(([name, field]) => [name, definedByAnswer(field)]),
    )
    const output = { type: 'object' as const, properties }
    return { fields: config.saveAs ? { [config.saveAs]: output } : properties, open: false, output }
  },
  types: ({ config: { output, skipWhenPresent, saveAs }, template }) => {
    const fields = typesOfAnswer(output, template)
    if (skipWhenPresent)
      for (const [name, { type, always }] of fields)
        fields.set(name, { type: join(type, template(`\${${name}}`)), always })
    const all = objectOf(fields, false)
    return { fields: saveAs ? new Map([[saveAs, { type: all, always: true }]]) : fields, output: all }
  },
  check: (config) => [
    ...(Object.keys(config.output).length === 0
      ? [{ field: 'output', message: 'must declare at least one field' }]
      : []),
    ...assigneeProblems(config.assignees),
    ...reminderProblems(config.reminders),
  ],
  doubts: reminderDoubts,
  ask({ stepId, config, data, now }) {
    const names = Object.keys(config.output)
    if (config.skipWhenPresent && names.every((name) => own(data, name) !== undefined)) {
      return { output: Object.fromEntries(names.map((name) => [name, data[name] ?? null])) }
    }
    return {
      signal: {
        type: 'collect_inputs',
        stepId,
        fields: config.output,
        ...(config.title === undefined ? {} : { title: config.title }),
        ...(config.message === undefined ? {} : { message: config.message }),
        ...askedOf(now, config),
        ...remindersOf(config.reminders),
      },
      ...expiry(now, config.expiresIn),
      ...firstReminder(now, config.reminders),
    }
  },
  reads: ({ skipWhenPresent, output }) => (skipWhenPresent && isJsonObject(output) ? Object.keys(output) : []),
  answers: (config) => ({ type: 'collect_inputs', fields: config.output }),
  answer({ config, answer }) {
    const output = 'data' in answer ? answer.data : {}
    return { output, delta: config.saveAs ? { [config.saveAs]: output } : output }
  },
})
