import { own } from '../definition/json'
import { env } from '../env'
import { mark } from '../interpreter/index'
import { cancelRun } from '../runs/cancel'
import { resumeRun } from '../runs/resume'
import { getRunStatus } from '../runs/status'
import { waitForRun } from '../runs/wait'
import { BUILDING } from './building'
import { type FixedTool, text } from './fixed-tool'
import { objectSchema } from './objects'
import { outlineOf, result } from './results'

const runId = text('The id that the start of the run returned.')

/** The tools for runs. */
const RUNNING: Record<string, FixedTool> = {
  get_run: {
    operation: 'run:read',
    title: 'Get a run',
    description: 'How a run is: its status, what it waits for, its data and its result.',
    inputSchema: objectSchema({ properties: { runId }, required: ['runId'], additionalProperties: false }),
    annotations: { readOnlyHint: true },
    call: async (ctx, args) => {
      const run = await getRunStatus(ctx, { runId: String(args.runId) })
      return result({ ...outlineOf(run), data: run.data })
    },
  },
  answer_run: {
    operation: 'run:resume',
    title: 'Answer a paused run',
    description:
      'Answers what a paused run waits for. For a pause of the type collect_inputs, send `data` with its fields; for one of the type request_user_action, send the `actionId` of one of its actions, with `data` for the fields of that action if it has any, and a `remark` if the pause asks for one. Then waits until the run ends or pauses again.',
    inputSchema: objectSchema({
      properties: {
        runId,
        type: {
          type: 'string',
          enum: ['collect_inputs', 'request_user_action'],
          description: 'The type of the pause.',
        },
        data: {
          type: 'object',
          description: 'The values of the fields that the pause, or the chosen action, asks for.',
        },
        actionId: text('The action chosen at a request_user_action pause.'),
        actionValue: text('The value of that action; its id if left out.'),
        remark: text('The reason for the choice, where the pause asks for a remark.'),
        pauseId: text('The `id` of the pause, if the run has several.'),
      },
      required: ['runId', 'type'],
      additionalProperties: false,
    }),
    // A model acts only for the credential it was given.
    call: async (ctx, { runId: id, answeredBy: _nobody, ...body }, signal) => {
      const since = mark()
      const { runId, status } = await resumeRun(ctx, { runId: String(id), body })
      // A vote that does not decide leaves the run paused.
      const waitMs = status === 'running' ? env().SYNC_START_TIMEOUT_MS : 0
      return result(outlineOf(await waitForRun(ctx, runId, waitMs, signal, since)))
    },
  },
  cancel_run: {
    operation: 'run:cancel',
    title: 'Cancel a run',
    description: 'Asks a run to stop. Its cleanup path runs, if it has one; then the run ends as cancelled.',
    inputSchema: objectSchema({
      properties: { runId, reason: text('Why, for people who look at the run later.') },
      required: ['runId'],
      additionalProperties: false,
    }),
    annotations: { destructiveHint: true, idempotentHint: true },
    call: async (ctx, args) => result(await cancelRun(ctx, args)),
  },
}

/** In listing order. */
const FIXED: Record<string, FixedTool> = { ...RUNNING, ...BUILDING }

export const fixedTools = (): [string, FixedTool][] => Object.entries(FIXED)
export const findFixedTool = (name: string): FixedTool | undefined => own(FIXED, name)
