import { isDeepStrictEqual } from 'node:util'
import type { ModelMessage } from 'ai'
import { Deadline } from '@/lib/deadline'
import { Budget } from '../../agents/budget'
import { toAppError } from '../../agents/failed-turn'
import { countCall } from '../../auth/limits'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { database } from '../../database'
import type { Definition } from '../../definition/schema'
import { env } from '../../env'
import { AppError } from '../../errors'
import { callModel } from '../../models/call'
import { ModelFailure } from '../../models/failure'
import { priceOf } from '../../models/prices'
import { type OpenModel, openModel } from '../../models/registry'
import type { ModelConfig } from '../../models/schema'
import { requireWhole } from '../../models/whole-answer'
import { parseInput } from '../../parse'
import type { Masker } from '../../vault/mask'
import { tenantMasker } from '../../vault/masker'
import type { Problem } from '../check/problem'
import { newDefinition } from '../definition'
import { CreateWorkflow } from '../schema'
import { instructions, repairRequest, request } from './instructions'
import { type Judge, type Judged, judgeOf, MAX_ANSWER, problemsBefore } from './judge'
import { modelToAsk, noModel } from './models'
import { type Described, type DescribeMetadata, DescribeWorkflow } from './schema'
import { readWorkspace } from './workspace'

const MAX_ATTEMPTS = 3
/** For all attempts: no further one is made if its prompt would go beyond it. */
const MAX_TOKENS = 150_000
/** The largest draft to change, in characters: it is sent whole. */
const MAX_DRAFT = 200_000

/**
 * Turns the description of a process into a draft, or changes a draft as described, with the workspace's own model. An
 * answer with problems returns to the model together with them. Only a draft that publishes and that works in a
 * simulation is offered; otherwise the problems are. Saves nothing. Counts as an invoke, and has its time limit.
 * @throws AppError INVALID_INPUT, AGENT_NOT_FOUND, RATE_LIMITED, MODEL_ERROR
 */
export async function describeWorkflow(ctx: ServiceContext, input: unknown, caller: AbortSignal): Promise<Described> {
  authorize(ctx, 'workflow:write')
  const { text, definition, ...choice } = parseInput(DescribeWorkflow, input)
  const draft = definition ? newDefinition(parseInput(CreateWorkflow, definition)) : null
  const model = await modelToAsk(ctx, choice)
  const open = await openModel(ctx, model).catch((err: unknown) => {
    throw toAppError(err)
  })
  if (open.provider === 'scripted') throw noModel()
  const before = await problemsBefore(ctx, draft)
  const masker = await tenantMasker(ctx)
  const asked = await questionOf(ctx, masker, { text, draft, before })
  await countCall(ctx, 'invokes', database().db, ctx.now())
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(caller, limitMs, () => new DOMException('The model took too long', 'TimeoutError'))
  const attempts = new Attempts(open, model, asked, { judge: judgeOf(ctx, draft, before), masker })
  try {
    return await attempts.run({ signal: limit.signal, deadline: performance.now() + limitMs })
  } catch (thrown) {
    const found = caller.aborted ? null : attempts.offer()
    if (found) {
      ctx.log.warn({ err: thrown }, 'a draft is offered that the model could not improve')
      return found
    }
    const tooLate = `gave no draft without problems within ${limitMs / 1_000} s`
    throw toAppError(limit.late ? new ModelFailure(model.provider, tooLate, { transient: true }) : thrown)
  } finally {
    limit.release()
  }
}

interface Question {
  system: string
  user: string
}

/**
 * No value of the vault is sent.
 * @param before the problems of the draft
 * @throws AppError INVALID_INPUT
 */
async function questionOf(
  ctx: ServiceContext,
  masker: Masker,
  { text, draft, before }: { text: string; draft: Definition | null; before: Problem[] },
): Promise<Question> {
  const refuse = (message: string) => new AppError('INVALID_INPUT', { details: [{ path: 'definition', message }] })
  const errors = before.filter(({ severity, code }) => severity === 'error' && code !== 'W_SIMULATION')
  const user = request(masker.text(text), draft, masker.json(errors))
  if (user.length - text.length > MAX_DRAFT) throw refuse('is too large for a model to change. Edit it by hand.')
  // Masking the draft would put the mask into the workflow.
  if (!isDeepStrictEqual(masker.json(draft), draft))
    throw refuse('contains a value of the vault. Use ${secrets.NAME} in its place, and then describe the change.')
  return { system: instructions(await readWorkspace(ctx, masker), draft !== null), user }
}

interface Limits {
  signal: AbortSignal
  deadline: number
}

/** Asks until an answer passes. */
class Attempts {
  private readonly budget = new Budget()
  private readonly messages: ModelMessage[]
  private made = 0
  /** The best answer so far that can be offered. */
  private fit: Judged | null = null

  constructor(
    private readonly open: OpenModel,
    private readonly model: ModelConfig,
    private readonly asked: Question,
    private readonly answers: { judge: Judge; masker: Masker },
  ) {
    this.messages = [{ role: 'user', content: asked.user }]
  }

  async run(limits: Limits): Promise<Described> {
    for (;;) {
      const { text, tokens } = await this.ask(limits)
      const judged = await this.answers.judge(text)
      limits.signal.throwIfAborted()
      const { errors, toMend } = judged
      if (errors.length === 0 && toMend.length <= (this.fit?.toMend.length ?? toMend.length)) this.fit = judged
      // The next call sends everything that this one sent and returned.
      const isLast =
        this.made === MAX_ATTEMPTS || this.budget.usage.totalTokens + tokens >= MAX_TOKENS || text.length > MAX_ANSWER
      if (toMend.length === 0 || isLast) return this.offer() ?? this.refusal(errors)
      this.messages.push(
        { role: 'assistant', content: text.trim() === '' ? '(no answer)' : text },
        { role: 'user', content: repairRequest(this.answers.masker.json(toMend)) },
      )
    }
  }

  /** Null if no answer can be offered. */
  offer(): Described | null {
    if (!this.fit?.definition) return null
    const { definition, warnings } = this.fit
    return { offered: true, definition, warnings, metadata: this.metadata }
  }

  private async ask(limits: Limits): Promise<{ text: string; tokens: number }> {
    this.made += 1
    const { text, usage, tokens, end } = await callModel(
      this.open,
      {
        ...{ system: this.asked.system, messages: this.messages, tools: [], mayCallTools: false },
        // Providers accept only part of JSON Schema as the form of an answer, and the definition's is beyond it.
        outputSchema: null,
      },
      limits,
    )
    const price = this.model.prices === undefined ? null : await priceOf(this.model)
    this.budget.spend(usage, price ? price(tokens, new Date()) : null, true)
    requireWhole(this.open.provider, end, { maxOutputTokens: undefined })
    return { text, tokens: usage.totalTokens }
  }

  private refusal(problems: Problem[]): Described {
    return { offered: false, problems, metadata: this.metadata }
  }

  private get metadata(): DescribeMetadata {
    const { provider, modelId } = this.open
    return { provider, modelId, attempts: this.made, ...this.budget.spent }
  }
}
