import { z } from 'zod'
import { answerInRun } from '../agents/answer-in-run'
import { answerWithData } from '../agents/answer-with-data'
import { Budget } from '../agents/budget'
import { failedTurn } from '../agents/failed-turn'
import { loadAgent } from '../agents/find'
import { type AskedQuestion, PartEnds } from '../agents/journal/part-ends'
import type { AnsweredTurn } from '../agents/journaled'
import { filesToSend } from '../agents/message-files'
import type { FailedTurn, StepUsage } from '../definition/agent'
import { AnyJson } from '../definition/any-json'
import { isJsonObject, type JsonValue } from '../definition/json'
import { AppError, StepFailure, TransientError } from '../errors'
import { ModelFailure } from '../models/failure'
import { askAboutCall } from './ask-about-call'
import { askAtLimit } from './ask-at-limit'
import { defineStep, type Question } from './define-step'

/** A template in place of an object, until it is resolved. */
const WholeTemplate = z
  .string()
  .regex(/^\$\{[\s\S]+\}$/, 'must be an object, or one expression that resolves to an object')

/** @throws StepFailure INVALID_INPUT for a value that is no id of a file */
function fileIds(files: JsonValue | undefined): string[] {
  const named = [files ?? []].flat(2).filter((one) => one !== null && one !== '')
  const odd = named.find((one) => typeof one !== 'string')
  if (odd !== undefined) throw new StepFailure('INVALID_INPUT', 'files must be the id of a file, or a list of ids')
  return named.map(String)
}

function asked(stepId: string, now: Date, question: AskedQuestion): Question {
  return 'limit' in question ? askAtLimit(stepId, now, question) : askAboutCall(stepId, now, question)
}

/** The codes of errors after which another attempt may succeed. */
const MAY_PASS: readonly string[] = ['THREAD_BUSY', 'THREAD_WAITING', 'UNAVAILABLE']

/** A chat that became a run is answered with text. */
function answerOf({ threadId, answer }: AnsweredTurn) {
  const { data, text, metadata } = answer
  return { data: data ?? { message: text }, threadId, metadata }
}

/** Sends a message to one of the tenant's agents; the fields of its answer go into run data. */
export const callAgent = defineStep({
  type: 'call-agent',
  title: 'Call an agent',
  description: 'Sends a message to an agent; later steps can use the fields of its answer.',
  icon: 'bot',
  group: 'work',
  mode: 'effect',
  inParts: true,
  config: z.object({
    agentId: z.string().min(1, 'is required').max(100),
    message: AnyJson.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
    /** Data for the agent and its tools besides the message; empty by default, `${_}` for all run data. */
    dataContext: z.union([z.record(z.string(), AnyJson), WholeTemplate]).optional(),
    /** Ids of files, or a template that resolves to one or to a list of them; empty values are left out. */
    files: z.union([z.string().max(10_000), z.array(AnyJson).max(50)]).nullish(),
    version: z.union([z.string().max(20), z.number()]).optional(),
    /** Continues an earlier thread with the same agent. */
    threadId: z.string().max(100).nullish(),
  }),
  form: {
    agentId: { widget: 'agent', label: 'Agent' },
    message: { widget: 'template-area', label: 'Message', help: 'The message to the agent.' },
    dataContext: {
      widget: 'key-value',
      label: 'Data for the agent',
      help: 'What the agent and its tools may read besides the message. ${_} is all of the run’s data.',
    },
    files: {
      widget: 'template',
      label: 'Files',
      placeholder: '${fileId}',
      help: 'What the model sees with the message: images, PDFs and texts. A file, or a list of files.',
    },
    version: { widget: 'version', label: 'Version', of: 'agentId', resource: 'agent', advanced: true },
    threadId: {
      widget: 'template',
      label: 'Thread',
      help: 'Continues an earlier conversation with the same agent.',
      advanced: true,
    },
  },
  sample: { agentId: '', message: '' },
  exits: ['next', 'error'],
  inputData: ({ agentId, message, dataContext, files, version, threadId }) => ({
    agentId,
    message,
    ...(dataContext === undefined ? {} : { dataContext: dataContext }),
    ...(files ? { files } : {}),
    ...(version === undefined ? {} : { version }),
    ...(threadId ? { threadId } : {}),
  }),
  defines: (config, stepId) =>
    config.saveAs
      ? { fields: { [config.saveAs]: { type: 'any' } }, open: false }
      : { fields: { [stepId]: { type: 'any' } }, open: true },
  uses: (config) => [{ kind: 'agent', id: config.agentId, version: config.version }],
  async run({ config, ctx, signal, attempt, log, uses }) {
    const { agentId, message, version = 'latest', threadId } = config
    if (message.trim() === '') throw new StepFailure('MESSAGE_REQUIRED', 'message is required')
    const { dataContext = {} } = config
    if (!isJsonObject(dataContext)) throw new StepFailure('INVALID_INPUT', 'dataContext must be an object')
    let usage: StepUsage | undefined
    const budget = new Budget()
    const onFailed = (turn: FailedTurn) => {
      usage = budget.own(turn)
    }
    uses?.(() => {
      const turn = failedTurn(null, budget, threadId ?? undefined)
      return turn && budget.own({ ...turn, retryable: true })
    })
    try {
      const files = await filesToSend(ctx, fileIds(config.files))
      const said = { message, dataContext, ...(files.length > 0 ? { files } : {}) }
      const asked = { ...said, agentId, version, threadId: threadId || null }
      const answer = attempt
        ? answerOf(await answerInRun(ctx, asked, attempt, { signal, log, onFailed, budget }))
        : await answerWithData(
            ctx,
            await loadAgent(ctx, agentId, version),
            { ...said, threadId },
            { signal, onFailed, budget },
          )
      return { output: answer.data, usage: budget.own({ threadId: answer.threadId, ...answer.metadata }) }
    } catch (err) {
      if (err instanceof PartEnds) {
        const { questions } = err
        if (!questions || !attempt) return { part: 'time', usage }
        const now = ctx.now()
        return { part: 'asks', usage, questions: questions.map((one) => asked(attempt.stepId, now, one)) }
      }
      if (err instanceof AppError && MAY_PASS.includes(err.code))
        throw new TransientError(err.message, undefined, { usage })
      if (err instanceof AppError && (err.code === 'OUTPUT_SCHEMA_MISMATCH' || err.code === 'BUDGET_EXCEEDED'))
        throw new StepFailure(err.code, err.message, [], usage)
      if (!(err instanceof ModelFailure)) throw err
      if (err.transient) throw new TransientError(err.message, err.retryAfterMs ?? undefined, { cause: err, usage })
      throw new StepFailure(err.code, err.message, [], usage)
    }
  },
})
