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
import { type OpenModel, openModel } from '../../models/registry'
import type { ModelConfig } from '../../models/schema'
import { requireWhole } from '../../models/whole-answer'
import { parseInput } from '../../parse'
import { tenantMasker } from '../../vault/masker'
import { newDefinition } from '../definition'
import { CreateWorkflow } from '../schema'
import { instructions, repairRequest, request } from './instructions'
import { type Judge, type Judged, judgeOf, MAX_ANSWER } from './judge'
import { modelToAsk, noModel } from './models'
import { type Described, DescribeWorkflow } from './schema'
import { readWorkspace } from './workspace'

const MAX_ATTEMPTS = 3
/** For all attempts: beyond it, no further one is made. */
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
  const [asked, judge] = await Promise.all([questionOf(ctx, text, draft), judgeOf(ctx, draft)])
  await countCall(ctx, 'invokes', database().db, ctx.now())
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(caller, limitMs, () => new DOMException('The model took too long', 'TimeoutError'))
  try {
    const limits = { signal: limit.signal, deadline: performance.now() + limitMs }
    return await new Attempts(open, model, asked, judge).run(limits)
  } catch (thrown) {
    const tooLate = `gave no draft without problems within ${limitMs} ms`
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
 * @throws AppError INVALID_INPUT
 */
async function questionOf(ctx: ServiceContext, text: string, draft: Definition | null): Promise<Question> {
  const refuse = (message: string) => new AppError('INVALID_INPUT', { details: [{ path: 'definition', message }] })
  const masker = await tenantMasker(ctx)
  const user = request(masker.text(text), draft)
  if (user.length - text.length > MAX_DRAFT) throw refuse('is too large for a model to change. Edit it by hand.')
  // Masking the draft would put the mask into the workflow.
  if (masker.text(user) !== user)
    throw refuse('contains a value of the vault. Use ${secrets.NAME} in its place, and then describe the change.')
  return { system: instructions(masker.json(await readWorkspace(ctx)), draft !== null), user }
}

/** Asks until an answer passes. */
class Attempts {
  private readonly budget = new Budget()
  private readonly messages: ModelMessage[]
  private made = 0
  /** An answer that can be offered, if no later one is better. */
  private fit: Judged | null = null

  constructor(
    private readonly open: OpenModel,
    private readonly model: ModelConfig,
    private readonly asked: Question,
    private readonly judge: Judge,
  ) {
    this.messages = [{ role: 'user', content: asked.user }]
  }

  async run(limits: { signal: AbortSignal; deadline: number }): Promise<Described> {
    for (;;) {
      const text = await this.ask(limits)
      const judged = await this.judge(text)
      limits.signal.throwIfAborted()
      if (judged.errors.length === 0) this.fit = judged
      const isLast =
        this.made === MAX_ATTEMPTS || this.budget.usage.totalTokens >= MAX_TOKENS || text.length > MAX_ANSWER
      const left = [...judged.errors, ...judged.doubts]
      if (left.length === 0 || isLast) return this.outcome(judged)
      this.messages.push(
        { role: 'assistant', content: text.trim() === '' ? '(no answer)' : text },
        { role: 'user', content: repairRequest(left) },
      )
    }
  }

  private async ask(limits: { signal: AbortSignal; deadline: number }): Promise<string> {
    this.made += 1
    const { text, usage, end } = await callModel(
      this.open,
      {
        ...{ system: this.asked.system, messages: this.messages, tools: [], mayCallTools: false },
        // Providers accept only part of JSON Schema as the form of an answer, and the definition's is beyond it.
        outputSchema: null,
      },
      limits,
    )
    this.budget.spend(usage, this.model.prices)
    requireWhole(this.open.provider, end, { maxOutputTokens: undefined })
    return text
  }

  private outcome({ errors }: Judged): Described {
    const { usage, cost } = this.budget
    const metadata = {
      ...{ provider: this.open.provider, modelId: this.open.modelId, attempts: this.made, usage },
      ...(cost === null ? {} : { cost: Number(cost.toPrecision(12)) }),
    }
    const { definition, warnings } = this.fit ?? { definition: null, warnings: [] }
    if (definition) return { offered: true, definition, warnings, metadata }
    return { offered: false, problems: errors, metadata }
  }
}
