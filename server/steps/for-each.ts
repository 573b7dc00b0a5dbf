import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { join, listOf, NEVER, objectOf, ofKind } from '../definition/types/type'
import { StepFailure } from '../errors'
import { defineStep } from './define-step'

const MAX_ITEMS = 100_000

/** Runs the same path for every item of a list. */
export const forEach = defineStep({
  type: 'for-each',
  title: 'For each',
  description: 'Runs the same steps for every item of a list, and collects what they give.',
  icon: 'repeat',
  group: 'flow',
  mode: 'fork',
  config: z.object({
    items: z.union([z.string(), z.array(AnyJson)]).describe('The list to go through, or `${…}` for one.'),
    batch: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe('How many items each iteration gets; with more than one, `${item}` is a list. 1 by default.'),
    concurrency: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe('How many iterations run at the same time; 1 by default.'),
    result: AnyJson.optional().describe(
      'What to collect from each iteration; may contain `${…}` of the iteration’s own data.',
    ),
    onItemError: z
      .enum(['stop', 'continue'])
      .optional()
      .describe('`stop` (the default) fails with the first iteration that fails; `continue` proceeds with the others.'),
    workflowId: z.string().max(100).optional(),
    input: z.record(z.string(), AnyJson).optional(),
    version: z.union([z.string().max(20), z.number()]).optional(),
  }),
  form: {
    items: { widget: 'template', label: 'Items', placeholder: '${orders}', help: 'The list to go through.' },
    workflowId: {
      widget: 'workflow',
      label: 'Workflow',
      help: 'Runs this workflow for each item, instead of steps here.',
      advanced: true,
    },
    input: { widget: 'arguments', label: 'Input', of: 'workflowId', resource: 'workflow', advanced: true },
    version: { widget: 'version', label: 'Version', of: 'workflowId', resource: 'workflow', advanced: true },
    result: {
      widget: 'template',
      label: 'Result of an item',
      placeholder: '${charge.id}',
      help: 'What to collect from each item. Its steps can use ${item} and ${index}.',
    },
    concurrency: {
      widget: 'number',
      label: 'At the same time',
      help: 'How many items are worked on at the same time; one after the other by default.',
      advanced: true,
    },
    batch: {
      widget: 'number',
      label: 'Items at a time',
      help: 'With more than one, ${item} is a list.',
      advanced: true,
    },
    onItemError: {
      widget: 'select',
      label: 'When an item fails',
      options: [
        { value: 'stop', label: 'Stop the others and fail' },
        { value: 'continue', label: 'Continue with the others' },
      ],
      advanced: true,
    },
  },
  sample: { items: [] },
  exits: ['each', 'done', 'error'],
  gives: { each: { item: { type: 'any' }, index: { type: 'integer' } } },
  uses: ({ workflowId, version, input }) =>
    workflowId ? [{ kind: 'workflow', id: workflowId, version, args: input }] : [],
  // The expanded definition, which runs and checks read, has a step in its place: see `definition/expand.ts`.
  check: ({ workflowId }) =>
    workflowId ? [{ field: 'workflowId', message: 'cannot be set where steps follow “For each item”' }] : [],
  defines: ({ saveAs, result }, stepId) => {
    const collected = result === undefined ? {} : { results: { type: 'array' as const } }
    const output = {
      type: 'object' as const,
      properties: { ...collected, errors: { type: 'array' as const }, count: { type: 'integer' as const } },
    }
    return { fields: { [saveAs ?? stepId]: output }, open: false, output }
  },
  types: ({ config: { items, batch = 1, result, onItemError, saveAs }, stepId, template, collected }) => {
    const item = template(items).items
    const given = result === undefined ? NEVER : collected(result)
    // A failed item contributes null.
    const results = listOf(onItemError === 'continue' ? join(given, ofKind('null')) : given)
    const error = objectOf(
      new Map([
        ['index', { type: ofKind('number'), always: true }],
        ['code', { type: ofKind('string'), always: true }],
        ['message', { type: ofKind('string'), always: true }],
      ]),
      false,
    )
    const output = objectOf(
      new Map([
        ...(result === undefined ? [] : [['results', { type: results, always: true }] as const]),
        ['errors', { type: listOf(error), always: true }],
        ['count', { type: ofKind('number'), always: true }],
      ]),
      false,
    )
    return {
      fields: new Map([[saveAs ?? stepId, { type: output, always: true }]]),
      output,
      gives: { each: { item: batch === 1 ? item : listOf(item), index: ofKind('number') } },
    }
  },
  takes: { items: 'array' },
  fork({ config: { items, batch = 1, concurrency = 1, onItemError = 'stop' } }) {
    if (!Array.isArray(items)) throw new StepFailure('INVALID_CONFIG', 'items must be a list')
    if (items.length > MAX_ITEMS)
      throw new StepFailure('INVALID_CONFIG', `items has ${items.length} entries, more than ${MAX_ITEMS}`)
    const turns =
      batch === 1
        ? items
        : Array.from({ length: Math.ceil(items.length / batch) }, (_, at) => items.slice(at * batch, (at + 1) * batch))
    return {
      branches: turns.map((item, index) => ({ key: String(index), exit: 'each', data: { item, index } })),
      concurrency,
      need: onItemError === 'stop' ? turns.length : null,
      stopOnError: onItemError === 'stop',
    }
  },
  join({ config: { saveAs, result }, stepId, branches }) {
    const errors = branches.flatMap(({ key, state, error }) =>
      state === 'failed' ? [{ index: Number(key), code: error?.code ?? '', message: error?.message ?? '' }] : [],
    )
    const results = result === undefined ? {} : { results: branches.map((branch) => branch.result) }
    const output = { ...results, errors, count: branches.length }
    return { output, delta: { [saveAs ?? stepId]: output } }
  },
})
