import { z } from 'zod'
import { component } from '../definition/component'
import { RESERVED_EXITS } from '../definition/exits'
import type { JsonObject } from '../definition/json'
import { defineStep } from './define-step'

/** Runs several paths in parallel, and continues when enough of them are done. */
export const parallel = defineStep({
  type: 'parallel',
  title: 'Parallel',
  description: 'Runs several branches at the same time, and continues when they are done.',
  icon: 'git-branch',
  group: 'flow',
  mode: 'fork',
  config: z.object({
    branches: z
      .array(
        component('Branch', {
          id: z
            .string()
            .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must start with a letter or _ and contain only letters, digits, _ and -'),
          label: z.string().max(200).optional(),
        }),
      )
      .min(1, 'needs at least one branch')
      .max(50)
      .describe('The branches. Each id is an exit.'),
    wait: z
      .union([
        z.enum(['all', 'any']),
        z.number().int().min(1).max(50),
        z
          .string()
          .regex(/^[1-9]\d?$/)
          .transform(Number),
      ])
      .optional()
      .describe('How many branches must succeed: `all` (the default), `any` for one, or a number.'),
    onBranchError: z
      .enum(['stop', 'continue'])
      .optional()
      .describe(
        '`stop` (the default) fails with the first branch that fails; `continue` while enough others can succeed.',
      ),
  }),
  form: {
    branches: {
      widget: 'branches',
      label: 'Branches',
      help: 'Each one leads to its own steps. All of them start at once.',
    },
    wait: {
      widget: 'select',
      label: 'Wait for',
      options: [
        { value: 'all', label: 'All branches' },
        { value: 'any', label: 'The first one' },
        ...['2', '3', '4', '5'].map((value) => ({ value, label: `Any ${value} of them` })),
      ],
      help: 'Branches that are still running then are stopped.',
      advanced: true,
    },
    onBranchError: {
      widget: 'select',
      label: 'When a branch fails',
      options: [
        { value: 'stop', label: 'Stop the others and fail' },
        { value: 'continue', label: 'Continue while enough can still succeed' },
      ],
      advanced: true,
    },
  },
  sample: {
    branches: [
      { id: 'first', label: 'First' },
      { id: 'second', label: 'Second' },
    ],
  },
  exits: { from: 'branches', id: 'id', label: 'label', plus: ['done', 'error'] },
  defines: ({ saveAs }) => {
    const list = { type: 'array' as const }
    const output = { type: 'object' as const, properties: { completed: list, failed: list, stopped: list } }
    return { fields: saveAs ? { [saveAs]: output } : {}, open: false, output }
  },
  check: ({ branches, wait }) => {
    const ids = branches.map(({ id }) => id)
    const wrong = ids.flatMap((id, at) => {
      if (RESERVED_EXITS.includes(id))
        return [{ field: `branches[${at}].id`, message: `cannot be ${id}, which is the name of an exit` }]
      return ids.indexOf(id) === at ? [] : [{ field: `branches[${at}].id`, message: 'is the id of another branch too' }]
    })
    const most = `cannot be more than the ${ids.length} branches there are`
    return typeof wait === 'number' && wait > ids.length ? [...wrong, { field: 'wait', message: most }] : wrong
  },
  fork: ({ config: { branches, wait = 'all', onBranchError = 'stop' } }) => ({
    branches: branches.map(({ id }) => ({ key: id, exit: id, data: {} })),
    concurrency: branches.length,
    need: wait === 'all' ? branches.length : wait === 'any' ? 1 : wait,
    stopOnError: onBranchError === 'stop',
  }),
  merges: true,
  join({ config: { saveAs }, branches }) {
    const of = (state: string) => branches.filter((branch) => branch.state === state)
    const output = {
      completed: of('done').map(({ key }) => key),
      failed: of('failed').map(({ key, error }) => ({
        branch: key,
        code: error?.code ?? '',
        message: error?.message ?? '',
      })),
      stopped: of('stopped').map(({ key }) => key),
    }
    const data: JsonObject = Object.assign({}, ...of('done').map(({ data }) => data))
    return { output, delta: saveAs ? { ...data, [saveAs]: output } : data }
  },
})
